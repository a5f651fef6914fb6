package kafka

import (
	"encoding/binary"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// newestCommits is the newest version of OffsetFetch that commitsResponse can
// read.
const newestCommits = 10

// A commitsRequest is an OffsetFetch for all commits of some groups whose
// answer is read into flat arrays: as the library's own structs, a million
// commits take some 100 MB and a string each.
type commitsRequest struct {
	kmsg.OffsetFetchRequest
	// before has, in the order of the groups asked for, what each said last;
	// nil of one that said nothing yet. Most answers differ from that in a few
	// offsets, or not at all.
	before []*fetched
	// metadata says, likewise, whose metadata to keep.
	metadata []bool
}

// offsetFetch asks for all commits of groups. The fields for one group serve
// brokers that know no others; the version decides which are sent.
func (p *poll) offsetFetch(names []string) *commitsRequest {
	r := &commitsRequest{OffsetFetchRequest: kmsg.NewOffsetFetchRequest(), before: make([]*fetched, len(names)), metadata: make([]bool, len(names))}
	r.Group = names[0]
	r.Groups = make([]kmsg.OffsetFetchRequestGroup, len(names))
	for i, name := range names {
		r.Groups[i] = kmsg.NewOffsetFetchRequestGroup()
		r.Groups[i].Group = name
		if g := p.groups[name]; g != nil {
			r.before[i], r.metadata[i] = g.commits, g.meaningful()
		}
	}
	return r
}

// MaxVersion implements kmsg.Request.
func (r *commitsRequest) MaxVersion() int16 {
	return min(newestCommits, r.OffsetFetchRequest.MaxVersion())
}

// ResponseKind implements kmsg.Request.
func (r *commitsRequest) ResponseKind() kmsg.Response {
	return &commitsResponse{OffsetFetchResponse: kmsg.OffsetFetchResponse{Version: r.Version}, asked: r}
}

// A commitsResponse is the answer to a commitsRequest. The library fills it in
// beside the poll, which may have given up waiting by then: it reads what was
// asked and what was said before, and writes to nothing but itself.
type commitsResponse struct {
	kmsg.OffsetFetchResponse // its version and throttle time; no more
	asked                    *commitsRequest
	groups                   []fetched
}

// ReadFrom implements kmsg.Response.
func (r *commitsResponse) ReadFrom(src []byte) error {
	version := r.Version
	w := wire{src: src, flexible: version >= 6}
	r.groups = r.groups[:0]
	if version >= 3 {
		r.ThrottleMillis = w.int32()
	}
	if version < batchVersion {
		f := r.start(0, r.asked.Group)
		r.topics(&w, &f, 0)
		if version >= 2 {
			f.code = w.int16()
		}
		r.groups = append(r.groups, f)
	} else {
		n := w.count(5)
		r.groups = slices.Grow(r.groups, n)
		for i := 0; i < n && !w.bad; i++ {
			k, name := r.group(i, w.text())
			f := r.start(k, name)
			r.topics(&w, &f, k)
			f.code = w.int16()
			w.tags()
			r.groups = append(r.groups, f)
		}
	}
	w.tags()
	return w.end()
}

// group finds a group among those asked for, and gives the name that was asked
// for instead of another copy of it. guess is where it is when answers keep the
// order of the questions. One that was not asked for is at -1.
func (r *commitsResponse) group(guess int, name []byte) (int, string) {
	groups := r.asked.Groups
	if guess < len(groups) && groups[guess].Group == string(name) {
		return guess, groups[guess].Group
	}
	for k := range groups {
		if groups[k].Group == string(name) {
			return k, groups[k].Group
		}
	}
	return -1, string(name)
}

// start begins what a group says.
func (r *commitsResponse) start(k int, name string) fetched {
	f := fetched{group: name}
	if k >= 0 && k < len(r.asked.metadata) && r.asked.metadata[k] {
		f.metadata = [][]string{}
	}
	return f
}

// topics reads a group's commits. k is the group's place among those asked for,
// -1 without one.
func (r *commitsResponse) topics(w *wire, f *fetched, k int) {
	least := 2 // bytes of a topic without commits
	switch {
	case r.Version < batchVersion:
		least = 3
	case r.Version >= 10:
		least = 18
	}
	n := w.count(least)
	d := topicReader{w: w, f: f, version: r.Version}
	if k >= 0 && k < len(r.asked.before) {
		d.before = r.asked.before[k]
	}
	f.topics, f.order = make([]collect.TopicCommits, 0, n), make([][]int32, 0, n)
	if r.Version >= 10 {
		f.ids = make([][16]byte, 0, n)
	}
	for i := 0; i < n && !w.bad; i++ {
		d.topic(i)
		w.tags()
	}
}

// topicReader reads one group's topics.
type topicReader struct {
	w       *wire
	f       *fetched
	before  *fetched // what the group said last, nil if nothing
	version int16
	offsets []int64 // room for those that changed
}

// topic reads the i-th topic.
func (d *topicReader) topic(i int) {
	f, w, old := d.f, d.w, d.before
	var last *collect.TopicCommits // the same topic's commits as they were said last
	var order []int32
	name := ""
	if d.version >= 10 {
		id := [16]byte(append(make([]byte, 0, 16), w.span(16)...)[:16])
		if old != nil && i < len(old.ids) && old.ids[i] == id {
			last = &old.topics[i]
		}
		f.ids = append(f.ids, id)
	} else if told := w.text(); old != nil && old.ids == nil && i < len(old.topics) && old.topics[i].Topic == string(told) {
		last = &old.topics[i]
		name = last.Topic
	} else {
		name = string(told)
	}
	least := 20
	if d.version < 5 {
		least = 16
	}
	n := w.count(least)
	c := collect.TopicCommits{Topic: name}
	if last != nil && len(last.Partitions) == n && last.Reasons == nil && f.metadata == nil {
		order = old.order[i]
		c.Partitions = last.Partitions
		if from := w.src; !d.again(&c, last, order) {
			w.src, w.bad = from, false
			last = nil
		}
	} else {
		last = nil
	}
	if last == nil {
		order = d.anew(&c, n)
	}
	f.topics, f.order = append(f.topics, c), append(f.order, order)
}

// commit is one as it is on the wire.
type commit struct {
	partition int32
	offset    int64
	epoch     int32
	metadata  []byte
	code      int16
}

func (d *topicReader) commit() (c commit) {
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

// again reads commits on the same partitions in the same order as last time.
// Arrays are shared with last until something differs. It gives up, false, where
// they are not the same after all, or an error has to be told.
func (d *topicReader) again(c, last *collect.TopicCommits, order []int32) bool {
	c.Offsets, c.Epochs = last.Offsets, last.Epochs
	moved, led := false, false // own arrays, no more shared ones
	for j := range last.Partitions {
		at := j
		if order != nil {
			at = int(order[j])
		}
		partition, offset, epoch, ok := d.plain()
		if !ok {
			q := d.commit()
			if d.w.bad || q.code != 0 {
				return false
			}
			partition, offset, epoch = q.partition, q.offset, q.epoch
		}
		if partition != last.Partitions[at] {
			return false
		}
		if offset != c.Offsets[at] {
			if !moved {
				moved, c.Offsets = true, d.moved(last.Offsets)
			}
			c.Offsets[at] = offset
		}
		if epoch != c.Epochs[at] {
			if !led {
				led, c.Epochs = true, slices.Clone(last.Epochs)
			}
			c.Epochs[at] = epoch
		}
	}
	return true
}

// plain reads a commit as nearly all are: of a version with compact lengths,
// without metadata, error or tags. It reads nothing, false, of any other.
func (d *topicReader) plain() (partition int32, offset int64, epoch int32, ok bool) {
	b := d.w.src
	if d.version < 6 || len(b) < 20 || b[16] > 1 || b[17]|b[18]|b[19] != 0 {
		return 0, 0, 0, false
	}
	d.w.src = b[20:]
	return int32(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint64(b[4:])), int32(binary.BigEndian.Uint32(b[12:])), true
}

// moved is a copy of offsets, in room for those of all of the group's topics.
func (d *topicReader) moved(offsets []int64) []int64 {
	n := len(offsets)
	if len(d.offsets) < n {
		d.offsets = make([]int64, max(n, d.left()))
	}
	out := d.offsets[:n:n]
	d.offsets = d.offsets[n:]
	copy(out, offsets)
	return out
}

// left is how many commits are to come, from this topic on, if there are as many
// as last time.
func (d *topicReader) left() int {
	n := 0
	for i := len(d.f.topics); i < len(d.before.topics); i++ {
		n += len(d.before.topics[i].Partitions)
	}
	return n
}

// anew reads n commits and gives their order: where each belongs that the
// answer tells, nil if they are in order of partition.
func (d *topicReader) anew(c *collect.TopicCommits, n int) (order []int32) {
	small := make([]int32, 2*n)
	c.Partitions, c.Epochs, c.Offsets = small[:n:n], small[n:], make([]int64, n)
	var metadata []string
	if d.f.metadata != nil {
		metadata = make([]string, n)
	}
	ordered := true
	for j := 0; j < n && !d.w.bad; j++ {
		var q commit
		if partition, offset, epoch, ok := d.plain(); ok {
			q = commit{partition: partition, offset: offset, epoch: epoch}
		} else {
			q = d.commit()
		}
		c.Partitions[j], c.Offsets[j], c.Epochs[j] = q.partition, q.offset, q.epoch
		ordered = ordered && (j == 0 || c.Partitions[j-1] < q.partition)
		if q.code != 0 {
			if c.Reasons == nil {
				c.Reasons = make([]collect.Reason, n)
			}
			c.Reasons[j] = reasonOfCode(q.code)
			d.f.unread = append(d.f.unread, unreadCommit{len(d.f.topics), q.partition, q.code})
		}
		if metadata != nil {
			metadata[j] = string(q.metadata)
		}
	}
	if !ordered && !d.w.bad {
		order = sortCommits(c, metadata)
	}
	if d.f.metadata != nil {
		d.f.metadata = append(d.f.metadata, metadata)
	}
	return order
}

// sortCommits brings commits into the order of partitions, and tells where each
// went.
func sortCommits(c *collect.TopicCommits, metadata []string) []int32 {
	n := len(c.Partitions)
	from := make([]int32, n)
	for j := range from {
		from[j] = int32(j)
	}
	old := *c
	slices.SortStableFunc(from, func(a, b int32) int { return int(old.Partitions[a]) - int(old.Partitions[b]) })
	c.Partitions, c.Offsets, c.Epochs = pickAll(old.Partitions, from), pickAll(old.Offsets, from), pickAll(old.Epochs, from)
	if old.Reasons != nil {
		c.Reasons = pickAll(old.Reasons, from)
	}
	copy(metadata, pickAll(metadata, from))
	order := make([]int32, n)
	for at, j := range from {
		order[j] = int32(at)
	}
	return order
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
