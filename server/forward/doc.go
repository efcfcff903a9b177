// Package forward lets the clients of one node of a fleet use the threads of all nodes.
//
// The node that a client is connected to is its edge. The node that writes a thread is the owner of the
// thread. The edge serves requests for threads without an owner, and becomes the owner if it loads them.
// It forwards requests for threads with another owner.
//
// # Links
//
// The edge has one link for each client and owner. A link is a connection on which the edge is a client
// of the owner, with the name and the capabilities of its own client. So the owner treats the client as
// its own, and the messages of a thread keep their order. A link is read only while the client reads its
// output, so a slow client slows the owner down as if it were connected there.
//
// The first message on a link is a hello: what the link is for, and the state of the client. After it,
// the owner serves the link like the connection of a client.
//
// Each edge has another link to every other node. On it, it gets the notifications about all threads,
// and sends them to its clients. A notification names the clients that have got it on links of their own,
// so that each client gets it once. The first message on such a link has the workspaces of the node. The
// edge forwards new threads, and threads without an owner, to a node that has their folder.
//
// # Ids
//
// Requests on a link have numbers of their own. A request of the owner gets an id of the edge, because
// several owners could use the same one. The response goes back with the id of the owner.
//
// # Owners that end
//
// When a link fails, its requests get the error ownerLost: nobody knows whether they were served. The
// requests of the owner count as resolved. For each thread that the client follows, the edge resumes the
// thread at its next owner, without the settings of the client's own thread/resume, which the log has. It
// completes the items and the turn that ended without a notification, announces the turns that have begun
// since, and sends the context items. If only nodes that are not known now have the folder of the thread,
// the edge waits some seconds for one.
//
// The edge learns from responses and notifications which threads the client follows, and how far their
// turns are. So the owner sends some notifications even if the client has opted out of them, and the edge
// leaves them out. Until the thread is resumed, the client gets the notifications of the former owner, and
// afterwards those of the next one only.
//
// An owner that is not the owner any more, or that shuts down, rejects a request. The edge then looks for
// the next owner, for some seconds. Requests of a thread that came later wait. A new thread is started on
// another node that has its folder, if one refuses it.
//
// # Order
//
// The requests of a client for one thread are served in the order in which it sent them. The edge looks up
// the owner of a thread for the first one. Later ones follow it over the same link, until all have their
// responses. As long as the client follows the thread through a link, its requests need no lookup. Requests
// that wait, because the owner is looked for or a node rejected them, are in a queue. The oldest one is
// sent first, and those that this node serves wait for the response of the one before.
//
// # Goroutines
//
//   - One per thread of a client for which an owner is looked for, or which is resumed. It ends when no
//     request waits.
//   - Two per link, which read and write it. They end with the link.
//   - One per other node, which reads its notifications about all threads.
//   - One that keeps these links. It ends with Forwarder.Close.
package forward
