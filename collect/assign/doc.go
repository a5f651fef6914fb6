// Package assign works out what each assignor would do with a group. It
// implements collect.Planner with franz-go's own balancers, fed with the
// assignment as it is.
//
// It plans and never acts: no group is joined, nothing is committed. Exact
// owners are promised for range, round robin, server range and by-index only;
// for the sticky family, balance and movement are.
//
// The room is reserved: no plan is built yet. It may import collect and
// franz-go; cmd imports it and hands the Planner on.
package assign
