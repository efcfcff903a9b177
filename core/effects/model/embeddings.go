package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

const (
	// embedTries is how often a request is made, embedPause the first pause between two; each
	// further one is twice as long. embedPatience bounds what the provider may ask to wait.
	embedTries    = 3
	embedPause    = 500 * time.Millisecond
	embedPatience = 20 * time.Second
	// vectorsLimit bounds an answer, in bytes: 64 vectors of 4096 numbers are some megabytes.
	vectorsLimit = 64 << 20
)

// EmbedError is the reason of missing vectors. It has no secret.
type EmbedError struct {
	message string
	refused bool
	// tooLarge is set if the texts are too large, together or alone.
	tooLarge bool
}

// Error returns the endpoint, the reason, and what to check.
func (e *EmbedError) Error() string { return e.message }

// Refused reports whether the endpoint rejected one of the texts or the parameters.
func (e *EmbedError) Refused() bool { return e.refused }

// Embeddings makes vectors of texts, at any endpoint that has OpenAI's /embeddings. It is safe for
// concurrent use.
type Embeddings struct {
	provider   *Client
	model      string
	dimensions int
	size       batchSize
}

// NewEmbeddings returns an embedder for a model. dimensions is the length of the vectors. 0 selects
// the default of the model, and not every model accepts another. The endpoint's IdleTimeout does not
// apply.
func NewEmbeddings(e Endpoint, model string, dimensions int) *Embeddings {
	return &Embeddings{provider: newClient(e, "embeddings"), model: model, dimensions: dimensions,
		size: batchSize{size: firstEmbedded}}
}

// Model returns the name of the model and the parameters that affect its vectors.
func (e *Embeddings) Model() string {
	name := e.provider.endpoint.Name + "/" + e.model
	if e.dimensions > 0 {
		name += fmt.Sprintf("/%d", e.dimensions)
	}
	return name
}

// Close closes idle connections.
func (e *Embeddings) Close() { e.provider.Close() }

// batch sends a request until it is answered or fails for good.
func (e *Embeddings) batch(ctx context.Context, texts []string) ([][]float32, error) {
	for try := 1; ; try++ {
		vectors, err := e.request(ctx, texts)
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failed, large := e.provider.modelError(err), tooLarge(err)
		if large || !failed.Retry || try == embedTries || failed.RetryAfter > embedPatience {
			return nil, &EmbedError{"embeddings: " + failed.Message, large || refuses(err), large}
		}
		if err := rest(ctx, max(failed.RetryAfter, embedPause<<(try-1))); err != nil {
			return nil, err
		}
	}
}

// refuses reports whether an endpoint rejected the request itself.
func refuses(err error) bool {
	status := new(statusError)
	if !errors.As(err, &status) {
		return false
	}
	return status.status == http.StatusBadRequest || status.status == http.StatusRequestEntityTooLarge ||
		status.status == http.StatusUnprocessableEntity
}

// rest waits. It returns the cause of ctx if that ends first.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// request sends one request. modelError converts its errors. go-openai encodes the request and decodes the vectors; the
// exchange below it has the errors and the retries.
func (e *Embeddings) request(ctx context.Context, texts []string) ([][]float32, error) {
	if e.provider.urlErr != nil {
		return nil, &requestError{e.provider.urlErr}
	}
	config := openai.DefaultConfig(e.provider.endpoint.APIKey)
	config.BaseURL = e.provider.url.String()
	config.HTTPClient = (*embedExchange)(e)
	answer, err := openai.NewClientWithConfig(config).CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: texts, Model: openai.EmbeddingModel(e.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
		Dimensions: e.dimensions,
	})
	var f failure
	switch {
	case errors.As(err, &f):
		return nil, err
	case err != nil:
		return nil, &requestError{fmt.Errorf("the answer of %s is no list of vectors (%w): check base_url and the model",
			shownURL(e.provider.latest()), err)}
	}
	return e.order(answer.Data, len(texts))
}

// order sorts vectors in the order of their texts. If the indices of the response are unusable, it
// keeps the order of the response.
func (e *Embeddings) order(data []openai.Embedding, texts int) ([][]float32, error) {
	if len(data) != texts {
		return nil, &requestError{fmt.Errorf("%s gave %d vectors for %d texts: check the model",
			shownURL(e.provider.latest()), len(data), texts)}
	}
	given, placed := make([][]float32, texts), make([][]float32, texts)
	indexed := true
	for i, d := range data {
		given[i] = d.Embedding
		if indexed = indexed && d.Index >= 0 && d.Index < texts && placed[d.Index] == nil; indexed {
			placed[d.Index] = d.Embedding
		}
	}
	if !indexed {
		return given, nil
	}
	return placed, nil
}

// embedExchange is the HTTP client of go-openai: it corrects requests on their way out, and keeps
// what go-openai drops of errors.
type embedExchange Embeddings

// Do fails with *connectError without a response, and with *statusError for any status but 2xx.
func (x *embedExchange) Do(req *http.Request) (*http.Response, error) {
	o := x.provider
	req.URL = o.url
	o.endpoint.Identity.sign(req.Header)
	if o.endpoint.APIKey == "" {
		req.Header.Del("Authorization")
	}
	for name, value := range o.endpoint.Headers {
		req.Header.Set(name, value)
	}
	res, err := o.client.Do(req)
	if err != nil {
		return nil, &connectError{err}
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, errorBodyLimit))
		return nil, &statusError{res.StatusCode, res.Header, o.withoutSecrets(body)}
	}
	res.Body = &limitedBody{io.LimitReader(res.Body, vectorsLimit), res.Body}
	return res, nil
}

// limitedBody is the begin of a body.
type limitedBody struct {
	io.Reader
	io.Closer
}
