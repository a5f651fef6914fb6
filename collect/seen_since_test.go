package collect

import (
	"fmt"
	"testing"
	"time"
)

// A member that restarts is known since its identity was first seen; a second
// one beside it is new.
func TestFirstSeenOverRestarts(t *testing.T) {
	w := watch(newWorld())
	as := func(id, client, instance string) Member {
		m := member(client)
		m.ID, m.InstanceID = id, instance
		return m
	}
	w.topic("a", part{0, 10})
	since := func(id string) time.Duration {
		t.Helper()
		g, _ := w.look(t)
		for i := range g.Members {
			if g.Members[i].ID == id {
				return g.Members[i].FirstSeenAt.Sub(epoch)
			}
		}
		t.Fatalf("no member %s", id)
		return 0
	}
	w.group("g", as("a1", "pod-a", ""), as("b1", "pod-b", "static")).commit("a", 0, 5)
	since("a1")
	w.after(time.Minute).group("g", as("b1", "pod-b", "static")).commit("a", 0, 5)
	w.look(t) // pod-a is away
	w.after(time.Minute).group("g", as("a2", "pod-a", ""), as("b2", "pod-c", "static")).commit("a", 0, 5)
	if a, b := since("a2"), since("b2"); a != 0 || b != 0 {
		t.Errorf("pod-a is back, first seen %v after the start, the static member %v", a, b)
	}
	w.after(time.Minute).group("g", as("a2", "pod-a", ""), as("a3", "pod-a", "")).commit("a", 0, 5)
	if a, second := since("a2"), since("a3"); a != 0 || second != 3*time.Minute {
		t.Errorf("pod-a %v, a second one of that name %v", a, second)
	}
	w.after(48*time.Hour).group("g", as("b1", "pod-b", ""))
	w.look(t)
	w.after(48*time.Hour).group("g", as("b1", "pod-b", ""), as("a4", "pod-a", ""))
	if a := since("a4"); a != 96*time.Hour+3*time.Minute {
		t.Errorf("pod-a after days: %v", a)
	}
}

// Clients whose names never come back do not fill the memory within a day, and
// push nobody out who is there.
func TestMembersWhoseNamesNeverComeBack(t *testing.T) {
	var a acquaintance
	stays := Member{ClientID: "stays", FirstSeenAt: epoch}
	now := epoch
	for i := range 5000 {
		now = now.Add(10 * time.Second)
		a.meet([]Member{stays, {ClientID: fmt.Sprint("client-", i), FirstSeenAt: now}}, now)
	}
	if n := len(a.members); n > rememberedMembers+4 {
		t.Errorf("%d are remembered", n)
	}
	if s := a.members[stays.identity()]; !s.first.Equal(epoch) {
		t.Errorf("who stayed was first seen at %v", s.first)
	}
	if s, ok := a.members["client-4900\x00"]; !ok || s.first.IsZero() {
		t.Error("who was there a quarter of an hour ago is forgotten")
	}
}
