package kafkatest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Row is one line of kafka-consumer-groups --describe. What the tool prints as "-" is nil, "" or, for the
// partition of a member that owns none, -1.
type Row struct {
	Group     string
	Topic     string
	Partition int32
	Committed *int64 // CURRENT-OFFSET
	LogEnd    *int64 // LOG-END-OFFSET
	Lag       *int64 // LAG: end minus commit, negative where the commit lies beyond the end
	MemberID  string // CONSUMER-ID
	Instance  string // GROUP-INSTANCE-ID
	Host      string // with the slash that Java puts before an address
	ClientID  string
}

// Member is one line of kafka-consumer-groups --describe --members, with or without --verbose.
type Member struct {
	Group      string
	MemberID   string
	Instance   string
	Host       string
	ClientID   string
	Partitions int    // #PARTITIONS
	Epoch      *int64 // CURRENT-EPOCH; nil for classic members and from tools before 4.0
	// Assignment is the assignment by topic: that of --verbose, from 4.0 on. Older tools name no topics or
	// another text; AssignmentText is what any of them printed.
	Assignment     map[string][]int32
	AssignmentText string
	Target         map[string][]int32 // TARGET-ASSIGNMENT; nil for classic members
}

// State is one line of kafka-consumer-groups --describe --state.
type State struct {
	Group       string
	Coordinator string // host:port
	ID          int32  // of the coordinator
	Assignor    string // ASSIGNMENT-STRATEGY
	State       string
	Members     int
	// Epoch and TargetEpoch are those of --verbose, from 4.0 on; nil in classic groups.
	Epoch, TargetEpoch *int64
}

// ParseDescribe reads the tables of --describe, one a group. The tool's errors, which it prints with exit
// code 0, and tables it cannot read for certain are errors.
func ParseDescribe(out string) ([]Row, error) {
	return parseTables(out, "PARTITION", func(cell func(string) string, number func(string) *int64) Row {
		row := Row{
			Group: cell("GROUP"), Topic: cell("TOPIC"), Partition: -1,
			Committed: number("CURRENT-OFFSET"), LogEnd: number("LOG-END-OFFSET"), Lag: number("LAG"),
			MemberID: cell("CONSUMER-ID"), Instance: cell("GROUP-INSTANCE-ID"), Host: cell("HOST"), ClientID: cell("CLIENT-ID"),
		}
		if p := number("PARTITION"); p != nil {
			row.Partition = int32(*p)
		}
		return row
	})
}

// ParseMembers reads the tables of --describe --members, with or without --verbose.
func ParseMembers(out string) ([]Member, error) {
	return parseTables(out, "#PARTITIONS", func(cell func(string) string, number func(string) *int64) Member {
		m := Member{
			Group: cell("GROUP"), MemberID: cell("CONSUMER-ID"), Instance: cell("GROUP-INSTANCE-ID"), Host: cell("HOST"), ClientID: cell("CLIENT-ID"),
			Epoch: number("CURRENT-EPOCH"), AssignmentText: cell("ASSIGNMENT") + cell("CURRENT-ASSIGNMENT"),
		}
		m.Assignment, m.Target = assignment(m.AssignmentText), assignment(cell("TARGET-ASSIGNMENT"))
		if n := number("#PARTITIONS"); n != nil {
			m.Partitions = int(*n)
		}
		return m
	})
}

// ParseState reads the tables of --describe --state.
func ParseState(out string) ([]State, error) {
	return parseTables(out, "STATE", stateOf)
}

func stateOf(cell func(string) string, number func(string) *int64) State {
	s := State{Group: cell("GROUP"), Assignor: cell("ASSIGNMENT-STRATEGY"), State: cell("STATE"), Epoch: number("GROUP-EPOCH"), TargetEpoch: number("TARGET-ASSIGNMENT-EPOCH")}
	s.Coordinator, s.ID = coordinator(cell("COORDINATOR (ID)"))
	if n := number("#MEMBERS"); n != nil {
		s.Members = int(*n)
	}
	return s
}

// coordinator reads host:port and the id in brackets, -1 without one.
func coordinator(cell string) (string, int32) {
	address, text, _ := strings.Cut(cell, " (") // 3.3 has one space there, later ones two
	id, err := strconv.ParseInt(strings.TrimSuffix(text, ")"), 10, 32)
	if err != nil {
		id = -1
	}
	return strings.TrimSpace(address), int32(id)
}

var (
	heading = regexp.MustCompile(`\S+(?: \(ID\))?`)
	remark  = regexp.MustCompile(`^((?:Consumer|Streams|Share) group '.*' (has no active members|is rebalancing|has no offset information)\.|Warning: .*|Note: .*)$`)
)

// parseTables cuts lines by the columns of the heading above them: cells may be empty or hold spaces, so
// that a line cannot be split by itself. A table counts only if its heading has the column that must is.
func parseTables[T any](out, must string, row func(cell func(string) string, number func(string) *int64) T) ([]T, error) {
	var rows []T
	var t *table
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "" || remark.MatchString(strings.TrimSpace(line)):
		case strings.HasPrefix(line, "Error: "):
			return nil, fmt.Errorf("kafka-consumer-groups: %s", strings.TrimPrefix(line, "Error: "))
		case strings.HasPrefix(line, "GROUP ") && strings.Contains(line, " "+must):
			t = newTable(line)
		case t == nil:
			return nil, fmt.Errorf("no heading with GROUP and %s above line %q", must, line)
		default:
			cells, err := t.cut(line)
			if err != nil {
				return nil, err
			}
			var bad error
			rows = append(rows, row(func(name string) string { return cells[name] }, func(name string) *int64 {
				if cells[name] == "" {
					return nil
				}
				n, err := strconv.ParseInt(cells[name], 10, 64)
				if err != nil {
					bad = fmt.Errorf("%s in line %q: %w", name, line, err)
					return nil
				}
				return &n
			}))
			if bad != nil {
				return nil, bad
			}
		}
	}
	return rows, nil
}

// table is a heading: the names of its columns and where they begin, counted as Java counts (UTF-16 units).
type table struct {
	names  []string
	starts []int
}

func newTable(line string) *table {
	t := &table{}
	for _, at := range heading.FindAllStringIndex(line, -1) {
		t.names = append(t.names, line[at[0]:at[1]])
		t.starts = append(t.starts, at[0])
	}
	return t
}

func (t *table) cut(line string) (map[string]string, error) {
	units := utf16.Encode([]rune(line))
	cells := make(map[string]string, len(t.names))
	for i, name := range t.names {
		from, to := min(t.starts[i], len(units)), len(units)
		if i+1 < len(t.names) {
			to = min(t.starts[i+1], len(units))
		}
		if from > 0 && from < len(units) && units[from-1] != ' ' {
			return nil, fmt.Errorf("a cell runs into column %s in line %q", name, line)
		}
		if cell := strings.TrimSpace(string(utf16.Decode(units[from:to]))); cell != "-" {
			cells[name] = cell
		}
	}
	return cells, nil
}

// assignment reads "topic:0,1;other:2", and returns nil for anything else.
func assignment(text string) map[string][]int32 {
	if text == "" {
		return nil
	}
	topics := make(map[string][]int32)
	for part := range strings.SplitSeq(text, ";") {
		topic, list, ok := strings.Cut(part, ":")
		if !ok {
			return nil
		}
		for p := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseInt(p, 10, 32)
			if err != nil {
				return nil
			}
			topics[topic] = append(topics[topic], int32(n))
		}
	}
	return topics
}
