package exporter

import "github.com/klagtop/klagtop/collect"

// legible reports whether anything may be said of the topic's partitions: a
// topic that is gone or denied has no numbers, whatever its arrays still hold.
func legible(t *collect.Topic) bool { return t.Reason == collect.ReasonNone || t.Reason.Passing() }

func perTopic(value func(t *collect.Topic) float64) func(*encoder, *cluster) {
	return func(e *encoder, c *cluster) {
		for i := range c.topics {
			if t := &c.topics[i]; legible(t.Topic) && t.Partitions() > 0 {
				e.sample(t.labels, value(t.Topic))
			}
		}
	}
}

// perPartition writes an offset of each partition whose log end is known. The
// others stand or fall with it: a start beside no end would be a number that
// nobody reads any more.
func perPartition(offsets func(t *collect.Topic) []int64) func(*encoder, *cluster) {
	return func(e *encoder, c *cluster) {
		for i := range c.topics {
			t := &c.topics[i]
			if !legible(t.Topic) {
				continue
			}
			e.rows(t.labels)
			for p, o := range offsets(t.Topic) {
				if o >= 0 && t.LogEnd[p] >= 0 {
					e.row(int32(p), o)
				}
			}
		}
	}
}

func writeOpenTransactions(e *encoder, c *cluster) {
	for i := range c.topics {
		t := &c.topics[i]
		if len(t.Open) == 0 || !legible(t.Topic) {
			continue
		}
		e.rows(t.labels)
		for k := range t.Open {
			if o := t.OpenTransaction(t.Open[k].Partition); o != nil && o.Age.Known() {
				e.rowSeconds(o.Partition, o.Age.Seconds)
			}
		}
	}
}

func writeTopicLag(e *encoder, c *cluster) {
	var labels []byte
	c.eachGroupTopic(func(g *group, gt *collect.GroupTopic) {
		labels = c.topicLabels(labels, g, gt)
		e.sample(labels, count(gt.TopicTotals().Records))
	})
}

// perRow writes a number of each row of each group, where it is known.
func perRow(value func(gt *collect.GroupTopic, i int) (v int64, known bool)) func(*encoder, *cluster) {
	return func(e *encoder, c *cluster) {
		var labels []byte
		c.eachGroupTopic(func(g *group, gt *collect.GroupTopic) {
			labels = c.topicLabels(labels, g, gt)
			e.rows(labels)
			for i := range gt.Committed {
				if v, known := value(gt, i); known {
					e.row(gt.Partition(i), v)
				}
			}
		})
	}
}

func lagOfRow(gt *collect.GroupTopic, i int) (int64, bool) {
	lag := gt.Lag(i)
	return lag, lag >= 0
}

func commitOfRow(gt *collect.GroupTopic, i int) (int64, bool) {
	return gt.Committed[i], gt.Committed[i] >= 0
}

// lostOfRow works a row out only where its commit lies below the log start.
func lostOfRow(gt *collect.GroupTopic, i int) (int64, bool) {
	p := int(gt.Partition(i))
	if c := gt.Committed[i]; c < 0 || p >= len(gt.Topic.LogStart) || c >= gt.Topic.LogStart[p] {
		return 0, false
	}
	r := gt.Row(i)
	return r.Lost, r.Lost > 0
}

func writeRowSeconds(e *encoder, c *cluster) {
	var labels []byte
	c.eachGroupTopic(func(g *group, gt *collect.GroupTopic) {
		labels = c.topicLabels(labels, g, gt)
		e.rows(labels)
		for i := range gt.Committed {
			if a := gt.Age(i); a.Known() {
				e.rowSeconds(gt.Partition(i), a.Seconds)
			}
		}
	})
}
