package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
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
	from := w.src
	if w.bad || d.same(n) {
		return
	}
	w.src, w.bad = from, false
	d.anew(n)
}
