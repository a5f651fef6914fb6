package document

import "github.com/klagtop/klagtop/collect"

// Topology is what a Kafka Streams application of the streams protocol reads.
// Missing are those of its source topics that do not exist.
type Topology struct {
	Epoch         int32         `json:"epoch"`
	Subtopologies []Subtopology `json:"subtopologies"`
	Missing       []string      `json:"missing"`
}

// Subtopology is a part of a Topology: its task p reads partition p of each of
// the topics.
type Subtopology struct {
	ID          string   `json:"id"`
	Sources     []string `json:"sources"`
	Repartition []string `json:"repartition"`
}

// StreamsMember is what only members of streams groups have. Standby and
// warm-up tasks are named by the partitions that the tasks they copy read.
type StreamsMember struct {
	ProcessID     string             `json:"process_id"`
	TopologyEpoch int32              `json:"topology_epoch"`
	Standby       map[string][]int32 `json:"standby"`
	Warmup        map[string][]int32 `json:"warmup"`
	TargetStandby map[string][]int32 `json:"target_standby"`
	TargetWarmup  map[string][]int32 `json:"target_warmup"`
}

func topology(g *collect.Group) *Topology {
	t := &Topology{Epoch: g.Topology.Epoch, Subtopologies: make([]Subtopology, len(g.Topology.Subtopologies)), Missing: texts(g.MissingTopics)}
	for i := range t.Subtopologies {
		s := &g.Topology.Subtopologies[i]
		t.Subtopologies[i] = Subtopology{ID: Text(s.ID), Sources: texts(s.Sources), Repartition: texts(s.Repartition)}
	}
	return t
}

func streamsMember(m *collect.StreamsMember) *StreamsMember {
	if m == nil {
		return nil
	}
	return &StreamsMember{
		ProcessID: Text(m.ProcessID), TopologyEpoch: m.TopologyEpoch,
		Standby: partitionsByTopic(m.Standby), Warmup: partitionsByTopic(m.Warmup),
		TargetStandby: partitionsByTopic(m.TargetStandby), TargetWarmup: partitionsByTopic(m.TargetWarmup),
	}
}
