package kafka

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A crew is goroutines that work for one that waits for them. A panic of one of
// them would end the process where nobody can give the terminal back, so it
// goes on in the one that waits.
type crew struct {
	wg    sync.WaitGroup
	broke atomic.Pointer[broken]
}

// Go starts a goroutine.
func (c *crew) Go(work func()) {
	c.wg.Go(func() {
		defer func() {
			if b := caught(recover()); b != nil {
				c.broke.CompareAndSwap(nil, b)
			}
		}()
		work()
	})
}

// Wait waits until all have ended, and panics if one of them did.
func (c *crew) Wait() {
	c.wg.Wait()
	c.check()
}

// check panics if one that has ended did, without waiting for the others.
func (c *crew) check() {
	if b := c.broke.Load(); b != nil {
		panic(b)
	}
}

// broken is a panic that goes on in another goroutine.
type broken struct {
	value any
	stack []byte // of the goroutine in which it began
}

func (b *broken) Error() string { return fmt.Sprintf("%v\n\n%s", b.value, b.stack) }

// caught is what recover gave as what may be thrown again; nil if it gave
// nothing.
func caught(v any) *broken {
	if v == nil {
		return nil
	}
	if b, ok := v.(*broken); ok { // passed on once before
		return b
	}
	return &broken{v, debug.Stack()}
}
