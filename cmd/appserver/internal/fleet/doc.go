// Package fleet makes a server a member of the servers that share a database. It is the entrance to the packages that
// do the work: rollout/postgres and rollout/shared have the threads, server/peer the port for other nodes,
// server/forward the requests for threads of other nodes, and internal/metrics the numbers for Prometheus.
//
// [Join] connects to the database, binds the port, and joins the fleet. [Member.Threads] then has the threads.
// [Member.Serve] connects the clients of a server with the threads of all nodes, and other nodes with the threads of
// this one. A server without a database has a nil [Member] and a nil [Service], whose methods do nothing.
//
// # Goroutines
//
// Those of the packages below. [Member.Leave] starts one, which ends when the database has answered.
package fleet
