// Package refusal decides how a request continues that a provider refused. It holds in one place what can be refused,
// how that is recognised, what changes, and what people are told.
//
// A [Refusal] is what the provider said, a [Request] what can be changed. [Book.Learn] looks for the first row of kinds
// that recognises the refusal and knows a change that was not made yet. The change is part of the [Demands] of the
// model from then on, until the process ends: a gateway has many models, and what one refuses another one needs. The
// next request obeys them. A restart learns them again, at the cost of a refused request each.
//
// Demands only grow, so a request is refused a bounded number of times. A refusal that no row recognises fails the
// turn. What is too long is never recognised here, because its words name parts of the request at random.
//
// Refused encrypted content belongs to a thread instead of a model. [Refusal.OfEncrypted] recognises it; the core takes
// it out of the prompt, and keeps that in the rollout.
package refusal
