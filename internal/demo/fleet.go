package demo

import (
	"context"
	"fmt"
	"slices"
)

// fleet is the pods of one application that run now. Only the script's goroutine calls it.
type fleet struct {
	app   *application
	stage *stage
	pods  map[string]*runningPod
}

type runningPod struct {
	end  context.CancelCauseFunc
	done chan struct{}
	err  error // written before done is closed
}

func (s *stage) fleet(group string, serverSide bool, topics ...string) *fleet {
	app := &application{group: group, topics: topics, serverSide: serverSide}
	return &fleet{app: app, stage: s, pods: map[string]*runningPod{}}
}

// cast has exactly these pods run: it starts those that do not, and has the others leave.
func (f *fleet) cast(names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		for name := range f.pods {
			if !slices.Contains(names, name) {
				if err := f.end(name, context.Canceled); err != nil {
					return err
				}
			}
		}
		for _, name := range names {
			if f.pods[name] == nil {
				f.start(ctx, name)
			}
		}
		return nil
	}
}

// crash has a pod vanish without leaving its group.
func (f *fleet) crash(name string) func(context.Context) error {
	return func(context.Context) error { return f.end(name, errCrash) }
}

// handling sets how many records a second each pod handles, at pace 1.
func (f *fleet) handling(perSecond int) func(context.Context) error {
	return func(context.Context) error {
		f.app.perSecond.Store(int64(perSecond))
		return nil
	}
}

// start runs a pod whose end is the fleet's to order, not the context's: a story that ends has its pods
// leave one after another while the brokers still stand.
func (f *fleet) start(ctx context.Context, name string) {
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	running := &runningPod{end: end, done: make(chan struct{})}
	f.pods[name] = running
	p := &pod{name: name, app: f.app, seeds: f.stage.seeds, tempo: f.stage.tempo}
	go func() {
		defer close(running.done)
		if running.err = p.Run(ctx); running.err != nil {
			f.stage.log.Error(running.err.Error())
		}
	}()
}

func (f *fleet) end(name string, cause error) error {
	running := f.pods[name]
	if running == nil {
		return fmt.Errorf("no pod %s runs in group %s", name, f.app.group)
	}
	delete(f.pods, name)
	running.end(cause)
	<-running.done
	return running.err
}

// behind is how many records of a topic the group has not committed yet.
func (f *fleet) behind(topic string) int64 {
	left := int64(0)
	for _, p := range f.stage.kafka.PartitionInfos(topic) {
		left += p.HighWatermark
	}
	if info := f.stage.kafka.GroupInfo(f.app.group); info != nil {
		for _, commit := range info.Commits[topic] {
			left -= commit.Offset
		}
	}
	return left
}

// endAll has every pod leave, all at once.
func (f *fleet) endAll() {
	for _, running := range f.pods {
		running.end(context.Canceled)
	}
	for _, running := range f.pods {
		<-running.done
	}
	clear(f.pods)
}
