package kafkatest

import "context"

type Security struct{ addresses map[string][]string }

var secureListeners []string

func newSecurity(string) (*Security, error)                           { return nil, nil }
func (s *Security) properties() map[string]string                     { return nil }
func (s *Security) createUsers(ctx context.Context, c *Cluster) error { return nil }
