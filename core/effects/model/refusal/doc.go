// Package refusal decides how a request continues after a provider refused it. It holds in one place which parts can be
// refused, how a refusal is recognised, how the request changes, and which message people get.
//
// A [Refusal] has the words of the provider. A [Request] has the parts that can change. [Book.Learn] uses the first
// kind of [Kinds] that recognises the refusal and has a change that was not made yet. The change becomes part of the
// [Demands] of the model until the process ends, and the next request obeys them. Models of one provider are kept
// apart: a gateway has many models, and one can need a member that another one refuses. After a restart, each change
// costs a refused request again.
//
// Demands only grow, so the number of refused requests is bounded. If no kind recognises a refusal, the turn fails. No
// kind recognises an error about the length of a request, because such errors name parts of the request by chance.
//
// Encrypted content belongs to a thread and not to a model. [Refusal.OfEncrypted] recognises its refusal. The core
// removes the content from the prompt, and records that in the rollout.
package refusal
