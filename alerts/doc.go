// Package alerts holds the rules: updates in, findings out. It implements
// collect.Rules.
//
// Rules are pure: they read no clock, do no I/O and start no goroutine; their
// hysteresis lives here and nowhere else. The Prometheus rule file and its
// promtool tests lie beside them, since both say the same things. alerts/notify
// sends what is raised.
//
// The room is reserved: no rule is built yet, and no finding is ever raised
// where there is none. It may import collect; cmd imports it.
package alerts
