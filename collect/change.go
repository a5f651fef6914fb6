package collect

import (
	"strconv"
	"strings"
)

// Limits of a Change: beyond them no Kafka was ever seen, and a plan would only
// take time.
const (
	maxPlannedMembers    = 10_000
	maxPlannedPartitions = 100_000 // of one topic
)

// ParseMembers reads a change of members as a user writes it: "5" for five in
// all, "+2" and "-1" for two more and one less, "+pod-4" and "-pod-1" for those
// by name; several by commas. A sign before a number is always a count.
func ParseMembers(text string) (MembersChange, error) {
	var c MembersChange
	fail := func(item, problem string) (MembersChange, error) {
		return MembersChange{}, &ChangeError{
			Part: ChangeMembers, Value: item, Problem: problem,
			Hint: "5 for five in all, +2 or -2 for two more or less, +ID and -ID for members by name, several by commas",
		}
	}
	items := strings.Split(text, ",")
	for _, item := range items {
		sign, name := byte(0), item
		if item != "" && (item[0] == '+' || item[0] == '-') {
			sign, name = item[0], item[1:]
		}
		n, err := strconv.ParseUint(name, 10, 31)
		number := err == nil
		if !number && name != "" && strings.Trim(name, "0123456789") == "" {
			n, number = maxPlannedMembers+1, true
		}
		switch {
		case name == "":
			return fail(text, "an identity or a number is missing")
		case sign == 0 && !number:
			return fail(item, "neither a number nor +ID or -ID")
		case sign == 0 && len(items) > 1:
			return fail(text, "a number of members stands alone")
		case sign == 0 && n == 0:
			return fail(item, "a group without members is assigned nothing")
		case n > maxPlannedMembers:
			return fail(item, "more than "+strconv.Itoa(maxPlannedMembers)+" members")
		case sign == 0:
			c.To = int(n)
		case sign == '+' && number:
			c.Add += int(n)
		case sign == '+':
			c.Join = append(c.Join, name)
		case number:
			c.Drop += int(n)
		default:
			c.Leave = append(c.Leave, name)
		}
	}
	if c.Add+len(c.Join) > maxPlannedMembers {
		return fail(text, "more than "+strconv.Itoa(maxPlannedMembers)+" members")
	}
	return c, nil
}

// ParsePartitions reads new partition counts, each as topic=N.
func ParsePartitions(texts []string) (map[string]int32, error) {
	counts := make(map[string]int32, len(texts))
	for _, text := range texts {
		fail := func(problem string) (map[string]int32, error) {
			return nil, &ChangeError{Part: ChangePartitions, Value: text, Problem: problem, Hint: "write topic=N, as in market-updates=12"}
		}
		topic, number, ok := strings.Cut(text, "=")
		if !ok || topic == "" {
			return fail("not topic=N")
		}
		n, err := strconv.ParseUint(number, 10, 31)
		_, twice := counts[topic]
		switch {
		case err != nil || n == 0:
			return fail("not a number of partitions")
		case n > maxPlannedPartitions:
			return fail("more than " + strconv.Itoa(maxPlannedPartitions) + " partitions")
		case twice:
			return fail("the topic is named twice")
		}
		counts[topic] = int32(n)
	}
	return counts, nil
}
