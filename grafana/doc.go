// Package grafana holds the dashboards and embeds them in the binary.
//
// Every panel queries metrics that the exporter serves. The room is reserved:
// no dashboard is drawn yet. It imports nothing of the project.
package grafana
