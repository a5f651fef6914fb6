package collect

import "context"

func (c *Collector) searchTimes(ctx context.Context, s *Snapshot) {}
