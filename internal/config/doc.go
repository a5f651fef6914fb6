// Package config turns flags, the environment and a Java client.properties file into one validated Config.
//
// The order is: flag, then environment variable, then client.properties, then default. Every flag has a
// variable: KLAGTOP_ and the flag's name in capitals, with "-" and "." as "_" (--sasl-password-file is
// KLAGTOP_SASL_PASSWORD_FILE, --metrics.level is KLAGTOP_METRICS_LEVEL). Flags that may be repeated take a
// list separated by commas there (KLAGTOP_GROUP=ticker,payments-*); a comma inside /…/ does not separate.
// An empty variable counts as unset; an unknown one, or one whose value looks like a Kubernetes service link
// (tcp://…), is ignored.
//
// The package refuses, with an *Error that names the source, the key and the value: values that are none, settings
// that contradict each other, and Java settings that it cannot honour but that decide whether and how a
// connection is made. Java settings that make no difference here are named in a note. It never connects anywhere,
// prints nothing, and puts no secret into an error, a note or a String.
//
// cmd imports it; it imports collect and collect/kafka. Everything is a plain function of its arguments and of the files they
// name, and safe for concurrent use.
package config
