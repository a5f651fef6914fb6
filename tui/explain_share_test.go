package tui

import (
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// A share group's lag does not follow from its start offset, and no sentence
// says so.
func TestExplainShare(t *testing.T) {
	for _, tt := range []struct {
		row  collect.Row
		want string
	}{
		{
			collect.Row{Status: collect.StatusOK, Committed: 54, LogEnd: 80, Lag: 5},
			"The share group queue is 5 records behind on x-0: so many, from its start offset 54 to the log end 80, are not done, those that members hold among them. The broker counts them; the start offset trails.",
		},
		{
			collect.Row{Status: collect.StatusLost, Committed: 30, LogStart: 50, LogEnd: 70, Lag: 20, Lost: 20},
			"Of x-0 the log now starts at 50, and the share group queue at 30: retention took up to 20 records before they were done. Of the others, 20 records are not done, those that members hold among them.",
		},
		{
			collect.Row{Status: collect.StatusAhead, Committed: 50, LogEnd: 10, Ahead: 40},
			"The share group queue starts at 50 on x-0, 40 records beyond the log end 10: the topic was recreated or truncated. The lag counts as 0.",
		},
	} {
		if got := explainShare("queue", "x-0", &partitionRow{Row: tt.row}); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}
