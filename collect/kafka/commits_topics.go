package kafka

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/klagtop/klagtop/collect"
)

// topicReader reads one group's topics.
type topicReader struct {
	w       *wire
	f       *fetched
	before  *fetched // what the group said last, nil if nothing
	version int16
	offsets []int64 // room for those that changed
	left    int     // how many commits may still need it
	seen    []bool  // by place, of what was read already
}

// key reads what names a topic: a name, or from version 10 on an id.
func (d *topicReader) key() (name []byte, id [16]byte) {
	if d.version >= 10 {
		copy(id[:], d.w.span(16))
		return nil, id
	}
	return d.w.text(), id
}

func (d *topicReader) count() int {
	if d.version < 5 {
		return d.w.count(16)
	}
	return d.w.count(20)
}

// same reads commits on the same partitions as last time, in whatever order
// they come: some brokers use another one in each answer. Arrays are shared with
// what was said last until something differs. It gives up, false, where topics or
// partitions are not the same after all, or where there is more to tell.
func (d *topicReader) same(n int) bool {
	old := d.before
	if old == nil || len(old.topics) != n || d.f.metadata != nil || (old.ids != nil) != (d.version >= 10) {
		return false
	}
	for i := range old.topics {
		if old.topics[i].Reasons != nil {
			return false
		}
		d.left += len(old.topics[i].Partitions)
	}
	topics := make([]collect.TopicCommits, n)
	for i := range n {
		k := d.find(i)
		if k < 0 || topics[k].Partitions != nil {
			return false
		}
		last := &old.topics[k]
		if d.count() != len(last.Partitions) || d.w.bad || len(last.Partitions) == 0 || !d.again(&topics[k], last) {
			return false
		}
		d.w.tags()
	}
	if d.w.bad {
		return false
	}
	for k := range topics {
		if d.version < 10 { // ids are given their names anew
			topics[k].Topic = old.topics[k].Topic
		}
	}
	d.f.topics, d.f.ids = topics, old.ids
	return true
}

// find reads a topic's name and gives its place among those of last time, -1
// without one. guess is where it is when answers keep their order.
func (d *topicReader) find(guess int) int {
	name, id := d.key()
	old := d.before
	if d.version >= 10 {
		if old.ids[guess] == id {
			return guess
		}
		if k, ok := slices.BinarySearchFunc(old.ids, id, compareIDs); ok {
			return k
		}
		return -1
	}
	if old.topics[guess].Topic == string(name) {
		return guess
	}
	k, ok := slices.BinarySearchFunc(old.topics, name, func(t collect.TopicCommits, name []byte) int {
		switch {
		case t.Topic < string(name):
			return -1
		case t.Topic > string(name):
			return 1
		}
		return 0
	})
	if ok {
		return k
	}
	return -1
}

func compareIDs(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

// again reads commits on the partitions of last time.
func (d *topicReader) again(c, last *collect.TopicCommits) bool {
	n := len(last.Partitions)
	*c = collect.TopicCommits{Partitions: last.Partitions, Offsets: last.Offsets, Epochs: last.Epochs}
	d.seen = slices.Grow(d.seen[:0], n)[:n]
	clear(d.seen)
	moved, led := false, false // own arrays, no more shared ones
	for j := range n {
		q := d.commit()
		if d.w.bad || q.code != 0 {
			return false
		}
		at := j
		if last.Partitions[j] != q.partition {
			if at = placeOf(last.Partitions, q.partition); at < 0 {
				return false
			}
		}
		if d.seen[at] {
			return false
		}
		d.seen[at] = true
		if q.offset != c.Offsets[at] {
			if !moved {
				moved, c.Offsets = true, d.moved(last.Offsets)
			}
			c.Offsets[at] = q.offset
		}
		if q.epoch != c.Epochs[at] {
			if !led {
				led, c.Epochs = true, slices.Clone(last.Epochs)
			}
			c.Epochs[at] = q.epoch
		}
	}
	d.left -= n
	return true
}

// placeOf finds a partition in a list that is sorted and, mostly, without gaps.
func placeOf(sorted []int32, p int32) int {
	if p >= 0 && int(p) < len(sorted) && sorted[p] == p {
		return int(p)
	}
	if at, ok := slices.BinarySearch(sorted, p); ok {
		return at
	}
	return -1
}

// moved is a copy of offsets, in room for those of all topics to come.
func (d *topicReader) moved(offsets []int64) []int64 {
	n := len(offsets)
	if len(d.offsets) < n {
		d.offsets = make([]int64, max(n, d.left))
	}
	out := d.offsets[:n:n]
	d.offsets = d.offsets[n:]
	copy(out, offsets)
	return out
}

// commit is one as it is on the wire.
type commit struct {
	partition int32
	offset    int64
	epoch     int32
	metadata  []byte
	code      int16
}

func (d *topicReader) commit() commit {
	// As nearly all are: of a version with compact lengths, without metadata,
	// error or tags.
	if b := d.w.src; d.version >= 6 && len(b) >= 20 && b[16] <= 1 && b[17]|b[18]|b[19] == 0 {
		d.w.src = b[20:]
		return commit{
			partition: int32(binary.BigEndian.Uint32(b)), offset: int64(binary.BigEndian.Uint64(b[4:])), epoch: int32(binary.BigEndian.Uint32(b[12:])),
		}
	}
	return d.anyCommit()
}

func (d *topicReader) anyCommit() (c commit) {
	w := d.w
	c.partition, c.offset, c.epoch = w.int32(), w.int64(), -1
	if d.version >= 5 {
		c.epoch = w.int32()
	}
	c.metadata = w.nullableText()
	c.code = w.int16()
	w.tags()
	return c
}

// anew reads n topics, and brings them into order.
func (d *topicReader) anew(n int) {
	told := make([]topicTold, 0, n)
	for i := 0; i < n && !d.w.bad; i++ {
		name, id := d.key()
		t := topicTold{id: id}
		t.commits.Topic = string(name)
		d.read(&t, d.count())
		d.w.tags()
		told = append(told, t)
	}
	slices.SortStableFunc(told, func(a, b topicTold) int {
		return cmp.Or(cmp.Compare(a.commits.Topic, b.commits.Topic), compareIDs(a.id, b.id))
	})
	f := d.f
	f.topics = make([]collect.TopicCommits, len(told))
	if d.version >= 10 {
		f.ids = make([][16]byte, len(told))
	}
	for k := range told {
		f.topics[k] = told[k].commits
		if f.ids != nil {
			f.ids[k] = told[k].id
		}
		if f.metadata != nil {
			f.metadata = append(f.metadata, told[k].metadata)
		}
		for _, u := range told[k].unread {
			u.topic = k
			f.unread = append(f.unread, u)
		}
	}
}

// topicTold is one topic of an answer.
type topicTold struct {
	id       [16]byte
	commits  collect.TopicCommits
	metadata []string
	unread   []unreadCommit
}

// read reads n commits, and brings them into order.
func (d *topicReader) read(t *topicTold, n int) {
	small := make([]int32, 2*n)
	c := &t.commits
	c.Partitions, c.Epochs, c.Offsets = small[:n:n], small[n:], make([]int64, n)
	if d.f.metadata != nil {
		t.metadata = make([]string, n)
	}
	ordered := true
	for j := 0; j < n && !d.w.bad; j++ {
		q := d.commit()
		c.Partitions[j], c.Offsets[j], c.Epochs[j] = q.partition, q.offset, q.epoch
		ordered = ordered && (j == 0 || c.Partitions[j-1] < q.partition)
		if q.code != 0 {
			if c.Reasons == nil {
				c.Reasons = make([]collect.Reason, n)
			}
			c.Reasons[j] = reasonOfCode(q.code)
			t.unread = append(t.unread, unreadCommit{partition: q.partition, code: q.code})
		}
		if t.metadata != nil {
			t.metadata[j] = string(q.metadata)
		}
	}
	if ordered || d.w.bad {
		return
	}
	from := inOrder(c.Partitions)
	c.Partitions, c.Offsets, c.Epochs, c.Reasons = pickAll(c.Partitions, from), pickAll(c.Offsets, from), pickAll(c.Epochs, from), pickAll(c.Reasons, from)
	t.metadata = pickAll(t.metadata, from)
}

// inOrder gives the places at which the partitions lie by number, of the same
// number the first one first.
func inOrder(partitions []int32) []int32 {
	n := len(partitions)
	from, gaps := make([]int32, n), false
	for j := range from {
		from[j] = -1
	}
	for j, p := range partitions { // nearly always each number once, from 0 on
		if gaps = p < 0 || int(p) >= n || from[p] >= 0; gaps {
			break
		}
		from[p] = int32(j)
	}
	if !gaps {
		return from
	}
	for j := range from {
		from[j] = int32(j)
	}
	slices.SortStableFunc(from, func(a, b int32) int { return cmp.Compare(partitions[a], partitions[b]) })
	return from
}

// pickAll is what lies at these places.
func pickAll[T any](all []T, places []int32) []T {
	if all == nil {
		return nil
	}
	out := make([]T, len(places))
	for i, k := range places {
		out[i] = all[k]
	}
	return out
}
