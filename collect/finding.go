package collect

import "time"

// Severity is how much a finding matters.
type Severity uint8

// The severities, least first.
const (
	Info Severity = iota
	Warning
	Critical
)

var severityNames = [...]string{"info", "warning", "critical"}

// String is the severity as documents spell it.
func (s Severity) String() string { return severityNames[s] }

// ParseSeverity is the inverse of String.
func ParseSeverity(w string) (Severity, bool) {
	for i, n := range severityNames {
		if n == w {
			return Severity(i), true
		}
	}
	return Info, false
}

// A Finding says what is wrong, since when, on what evidence, and what would
// change it.
type Finding struct {
	Cluster  bool   // it is about the cluster itself, and Group says nothing
	Group    string // the empty name is a group's name like any other
	Code     string
	Severity Severity
	Primary  bool // the first raised in order of precedence: cause before symptom
	Since    time.Time
	Where    Where
	CausedBy string // code of the cluster finding behind it
	Summary  string // one sentence with the numbers
	Evidence []Evidence
	Advice   string // one sentence that can be acted on
}

// Where is what a finding is about.
type Where struct {
	Topics     []string
	Partitions []PartitionRef
	Members    []string // member ids
}

// PartitionRef names a partition.
type PartitionRef struct {
	Topic     string
	Partition int32
}

// Evidence is one number or word a finding rests on.
type Evidence struct {
	Name  string
	Value any // float64, int64, string or bool
}

// Rules judge updates. They hold their own hysteresis, and are called once an
// update, in order, by the loop's goroutine.
type Rules interface {
	// Judge returns every finding raised now, the cluster's first, then by
	// group, primary first, then by severity. It must not keep or change u.
	Judge(u *Update) []Finding
}
