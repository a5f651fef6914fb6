package kafkatest

import (
	"reflect"
	"strings"
	"testing"
)

func num(n int64) *int64 { return &n }

func TestParseDescribe(t *testing.T) {
	for name, tc := range map[string]struct {
		out  string
		want []Row
	}{
		"two members, one of them static": {`
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                             HOST            CLIENT-ID
cgc             lagt            0          100             100             0               i2-90667716-b20a-4ef2-9e9f-ccd0b53facf0 /127.0.0.1      A2
`, []Row{{Group: "cgc", Topic: "lagt", Committed: num(100), LogEnd: num(100), Lag: num(0), MemberID: "i2-90667716-b20a-4ef2-9e9f-ccd0b53facf0", Host: "/127.0.0.1", ClientID: "A2"}}},
		"client ids with spaces": {`
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                              HOST            CLIENT-ID
g1              lagt            1          0               0               0               A 2-9bac8328-b4ce-4279-ade8-0162a20cd898 /127.0.0.1      A 2
`, []Row{{Group: "g1", Topic: "lagt", Partition: 1, Committed: num(0), LogEnd: num(0), Lag: num(0), MemberID: "A 2-9bac8328-b4ce-4279-ade8-0162a20cd898", Host: "/127.0.0.1", ClientID: "A 2"}}},
		"no commit and no member; the member that owns nothing": {`
Consumer group 'stand-g' has no active members.

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
stand-g         std1            0          61              100             39              -               -               -
stand-g         std1            2          -               100             -               -               -               -
stand-g         -               -          -               -               -               idle-1          /127.0.0.1      idle
`, []Row{
			{Group: "stand-g", Topic: "std1", Committed: num(61), LogEnd: num(100), Lag: num(39)},
			{Group: "stand-g", Topic: "std1", Partition: 2, LogEnd: num(100)},
			{Group: "stand-g", Partition: -1, MemberID: "idle-1", Host: "/127.0.0.1", ClientID: "idle"},
		}},
		"commit beyond the end has a negative lag; several groups": {`
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
a               t               0          500             100             -400            -               -               -

GROUP                TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
a-name-of-20-letters t               0          10              100             90              -               -               -
`, []Row{
			{Group: "a", Topic: "t", Committed: num(500), LogEnd: num(100), Lag: num(-400)},
			{Group: "a-name-of-20-letters", Topic: "t", Committed: num(10), LogEnd: num(100), Lag: num(90)},
		}},
		"columns of --verbose": {`
GROUP           TOPIC           PARTITION  LEADER-EPOCH    CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                             HOST            CLIENT-ID
g1              lagt            0          -               7               9               2               i1-1f69b886-b932-4512-b285-22aa0e6040a8 /127.0.0.1      A 1
`, []Row{{Group: "g1", Topic: "lagt", Committed: num(7), LogEnd: num(9), Lag: num(2), MemberID: "i1-1f69b886-b932-4512-b285-22aa0e6040a8", Host: "/127.0.0.1", ClientID: "A 1"}}},
		"a group name outside the BMP is two of Java's characters wide": {`
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
gruppe-😀é       t               0          1               2               1               -               -               -
`, []Row{{Group: "gruppe-😀é", Topic: "t", Committed: num(1), LogEnd: num(2), Lag: num(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDescribe(tc.out)
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestParseMembers(t *testing.T) {
	for name, tc := range map[string]struct {
		out  string
		want []Member
	}{
		"classic, static and idle": {`
GROUP           CONSUMER-ID                             GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   
cgc             i2-90667716-b20a-4ef2-9e9f-ccd0b53facf0 i2                /127.0.0.1      A2              2               -               lagt:0;std1:0        -               -                   
cgc             A-c1b75140-86ff-42db-85a0-94b3c7ac32ad                    /127.0.0.1      A               0               -               -                    -               -                   
`, []Member{
			{
				Group: "cgc", MemberID: "i2-90667716-b20a-4ef2-9e9f-ccd0b53facf0", Instance: "i2", Host: "/127.0.0.1", ClientID: "A2", Partitions: 2,
				AssignmentText: "lagt:0;std1:0", Assignment: map[string][]int32{"lagt": {0}, "std1": {0}},
			},
			{Group: "cgc", MemberID: "A-c1b75140-86ff-42db-85a0-94b3c7ac32ad", Host: "/127.0.0.1", ClientID: "A"},
		}},
		"KIP-848": {`
GROUP           CONSUMER-ID            HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   
cg8             MWAi4Mj1SoyGwr11fPulDw /127.0.0.1      B               4               2               lagt:0,1;std1:0,1    2               lagt:0,1;std1:0,1   
`, []Member{{
			Group: "cg8", MemberID: "MWAi4Mj1SoyGwr11fPulDw", Host: "/127.0.0.1", ClientID: "B", Partitions: 4, Epoch: num(2), AssignmentText: "lagt:0,1;std1:0,1",
			Assignment: map[string][]int32{"lagt": {0, 1}, "std1": {0, 1}}, Target: map[string][]int32{"lagt": {0, 1}, "std1": {0, 1}},
		}}},
		"without --verbose": {`
GROUP           CONSUMER-ID                              GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     
g1              i1-1f69b886-b932-4512-b285-22aa0e6040a8  i1                /127.0.0.1      A 1             1               
`, []Member{{Group: "g1", MemberID: "i1-1f69b886-b932-4512-b285-22aa0e6040a8", Instance: "i1", Host: "/127.0.0.1", ClientID: "A 1", Partitions: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMembers(tc.out)
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestParseState(t *testing.T) {
	got, err := ParseState(`
GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
cgc             127.0.0.1:30092  (1)      range                Stable               2
stand-g         127.0.0.1:30092  (12)     -                    Empty                0

GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     TARGET-ASSIGNMENT-EPOCH   #MEMBERS
g8              127.0.0.1:27100  (1)      uniform              Stable               7               7                         6

GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS
old             127.0.0.1:22928 (1)                            Empty           0
`)
	seven := int64(7)
	want := []State{
		{Group: "cgc", Coordinator: "127.0.0.1:30092", ID: 1, Assignor: "range", State: "Stable", Members: 2},
		{Group: "stand-g", Coordinator: "127.0.0.1:30092", ID: 12, State: "Empty"},
		{Group: "g8", Coordinator: "127.0.0.1:27100", ID: 1, Assignor: "uniform", State: "Stable", Members: 6, Epoch: &seven, TargetEpoch: &seven},
		{Group: "old", Coordinator: "127.0.0.1:22928", ID: 1, State: "Empty"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// A table read wrongly would be compared with klagtop's and blame it, so whatever is not certain is an error.
func TestParseRefuses(t *testing.T) {
	const head = "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID\n"
	for name, tc := range map[string]struct{ out, want string }{
		"the tool's error, printed with exit code 0": {"\nError: Executing consumer group command failed due to org.apache.kafka.common.errors.GroupIdNotFoundException: Group nosuch not found.\n", "Group nosuch not found"},
		"the error of 3.9":                           {"\nError: Consumer group 'nosuch' does not exist.\n", "does not exist"},
		"a cell wider than its column":               {head + "a-name-of-20-letters t               0          10              100             90              -               -               -\n", "runs into column TOPIC"},
		"no number where one belongs":                {head + "g               t               zero       10              100             90              -               -               -\n", "PARTITION"},
		"no heading":                                 {"g               t               0          10              100             90\n", "no heading"},
		"another table":                              {"GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS\ng x Stable 1\n", "no heading"},
	} {
		t.Run(name, func(t *testing.T) {
			if rows, err := ParseDescribe(tc.out); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v; want an error with %q", rows, err, tc.want)
			}
		})
	}
}
