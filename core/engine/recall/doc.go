// Package recall is the memory service of the engine. It summarizes what leaves the contexts of
// threads, stores the summaries by repository, and searches summaries and source files.
//
// # Decisions
//
// A model writes summaries only if the configuration asks for it. If the model fails, takes more
// than a minute, or has had eight requests for one edit, the summary is extracted without a model.
// So an edit of the context always leaves a summary.
//
// Small neighbouring spans share one model request, because a request costs more than a long text.
package recall
