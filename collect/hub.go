package collect

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Hub hands finished updates to any number of readers and waits for none.
//
// Screens and scrapes take the newest update ([Hub.Latest], [Hub.Watch]) and
// may skip some. Events are kept in a bounded log that is read by cursor
// ([Hub.Events]): sequence numbers show a gap. Those who must have every update
// take a [Hub.Stream], a bounded queue that says what it dropped.
type Hub struct {
	latest atomic.Pointer[Update]

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each publication
	closed   bool
	events   []Event // the newest, oldest first
	capacity int
	streams  map[*Stream]struct{}
}

// NewHub makes a hub whose event log holds that many events, fewer where they are large.
func NewHub(events int) *Hub {
	return &Hub{changed: make(chan struct{}), capacity: events, streams: map[*Stream]struct{}{}}
}

// Publish makes u the newest update. Only the loop, or a replay, calls it.
// A closed hub takes nothing more.
func (h *Hub) Publish(u *Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.latest.Store(u)
	h.keep(u.Events)
	for s := range h.streams {
		s.offer(u)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// movesAnEvent is how many partitions that changed hands, or members that came
// or went, take an event's place in the log, about: a large group that rebalances all day would fill the
// memory with a log that counts its events only.
const movesAnEvent = 10

// keep appends events and drops the oldest that there is no more room for.
func (h *Hub) keep(events []Event) {
	if len(events) == 0 {
		return
	}
	h.events = append(h.events, events...)
	room, first := h.capacity, len(h.events)
	for first > 0 && room > 0 {
		e := &h.events[first-1]
		room -= 1 + (len(e.Moves)+len(e.Joined)+len(e.Left)+len(e.Offsets))/movesAnEvent
		if room < 0 && first < len(h.events) { // the newest is kept whatever its size
			break
		}
		first--
	}
	if first > 0 {
		h.events = append([]Event(nil), h.events[first:]...)
	}
}

// Close tells every reader that no update will follow.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for s := range h.streams {
		close(s.queue)
		delete(h.streams, s)
	}
	close(h.changed)
}

// Latest is the newest update, nil before the first.
func (h *Hub) Latest() *Update { return h.latest.Load() }

// Next waits for an update newer than after (nil for any) and returns the
// newest there is by then. ok is false when ctx ended, or the hub was closed
// and nothing newer will come.
func (h *Hub) Next(ctx context.Context, after *Update) (u *Update, ok bool) {
	for {
		h.mu.Lock()
		changed, closed := h.changed, h.closed
		h.mu.Unlock()
		if u := h.latest.Load(); u != nil && u != after {
			return u, true
		}
		if closed {
			return nil, false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// Events returns the kept events with a sequence number above after, oldest
// first. missed is how many such events there were that are kept no more.
func (h *Hub) Events(after uint64) (events []Event, missed uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, e := range h.events {
		if e.Seq > after {
			if e.Seq > after+1 {
				missed = e.Seq - after - 1
			}
			return append([]Event(nil), h.events[i:]...), missed
		}
	}
	return nil, 0
}

// Stream begins a queue of every update from now on, n at most: when its
// reader is that far behind, further ones are dropped and counted.
func (h *Hub) Stream(n int) *Stream {
	s := &Stream{hub: h, queue: make(chan *Update, n)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.queue)
	} else {
		h.streams[s] = struct{}{}
	}
	return s
}

// A Stream is one reader's queue of every update.
type Stream struct {
	hub     *Hub
	queue   chan *Update
	dropped atomic.Int64
}

// C delivers the updates; it is closed when the hub is.
func (s *Stream) C() <-chan *Update { return s.queue }

// Dropped is how many updates the reader was too slow for.
func (s *Stream) Dropped() int64 { return s.dropped.Load() }

// Close ends the stream.
func (s *Stream) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if _, ok := s.hub.streams[s]; ok {
		delete(s.hub.streams, s)
		close(s.queue)
	}
}

func (s *Stream) offer(u *Update) {
	select {
	case s.queue <- u:
	default:
		s.dropped.Add(1)
	}
}
