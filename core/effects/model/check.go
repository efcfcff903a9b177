package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"appserver/core"
	"appserver/platform/excerpt"
	"appserver/platform/osfile"
	"appserver/protocol"
)

// Check is the result of a request for the models of an endpoint.
type Check struct {
	// BaseURL is the address without secrets. Local is set if it is on this machine or in its network.
	BaseURL string
	Local   bool
	// Reachable reports whether the endpoint answered, or is nil if no request was sent.
	Reachable *bool
	// KeySent is set if requests have a key. KeyNeeded and KeyAccepted are nil
	// if unknown: the lists of some providers are for everyone.
	KeySent                bool
	KeyNeeded, KeyAccepted *bool
	Models                 []core.ListedModel
	// Listless is set if the endpoint has no list of models, as some providers have none.
	Listless bool
	// Software names the program that serves the models, or is "".
	Software string
	// Problem is the kind of the failure, a kind of protocol.ModelProviderProblem, or "". Message has no secrets.
	Problem, Message string
}

const (
	// checkTime limits the time in which an endpoint lists its models, when a client asks for a check.
	checkTime = 5 * time.Second
	// detailTime limits the time for further facts about the models.
	detailTime = 2 * time.Second
)

// Check requests the models of the endpoint. key names the key of the requests for messages; it is "" if they have
// none.
func (c *Client) Check(ctx context.Context, key string) Check {
	check := Check{Local: c.IsLocal(), KeySent: key != ""}
	if u, err := url.Parse(c.endpoint.BaseURL); err == nil {
		check.BaseURL = shownURL(u)
	}
	if c.urlErr != nil {
		check.Problem, check.Message = protocol.ProbeConfiguration, c.redacted(c.urlErr.Error())
		return check
	}
	listing, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	list, err := c.readList(listing, askOptions{explains: true})
	check.Reachable = new(hasAnswered(err))
	if err == nil && len(list.models) == 0 && !list.exact {
		err = noListError{}
	}
	if err != nil {
		c.explain(&check, err, key)
		return check
	}
	detailing, stop := context.WithTimeout(ctx, detailTime)
	defer stop()
	c.describe(detailing, list.models)
	check.Models, check.Software = list.models, c.software().String()
	c.checkKey(listing, &check)
	return check
}

// hasAnswered reports whether an endpoint answered a request with this error.
func hasAnswered(err error) bool {
	return err == nil || errors.As(err, new(*askError)) || errors.As(err, new(noListError))
}

// checkKey finds out whether the list is for everyone. If it is not, the key was accepted.
func (c *Client) checkKey(ctx context.Context, check *Check) {
	if !check.KeySent {
		if check.Local {
			check.KeyNeeded = new(false)
		}
		return
	}
	bare := c.endpoint
	bare.APIKey, bare.Account, bare.Headers, bare.Query = "", nil, nil, nil
	if u, err := url.Parse(bare.BaseURL); err != nil || u.User != nil {
		return // the address has a password, too
	}
	refused := new(askError)
	if _, err := newClient(bare).readList(ctx, askOptions{}); errors.As(err, &refused) && refused.isAuth() {
		check.KeyNeeded, check.KeyAccepted = new(true), new(true)
	}
}

func (e *askError) isAuth() bool {
	return e.status == http.StatusUnauthorized || e.status == http.StatusForbidden
}

// explain describes an error of the list.
func (c *Client) explain(check *Check, err error, key string) {
	answer, unanswered := new(askError), new(connectError)
	if errors.As(err, &unanswered) {
		err = unanswered.error
	}
	host := c.latest().Host
	switch {
	case errors.As(err, &answer):
		c.explainStatus(check, answer, key)
		return
	case errors.As(err, new(noListError)):
		check.Problem, check.Message = protocol.ProbeNoModelServer,
			host+" answers, but "+shownURL(c.latest())+" is not the API of a model server: it has no list of models"
	case errors.Is(err, context.DeadlineExceeded):
		check.Problem, check.Message = protocol.ProbeTimeout,
			fmt.Sprintf("%s did not answer within %v", host, checkTime)
	case errors.Is(err, context.Canceled):
		check.Problem, check.Message = protocol.ProbeTimeout, "the check was cancelled"
	case osfile.Is(err, syscall.ECONNREFUSED):
		check.Problem, check.Message = protocol.ProbeUnreachable, "nothing listens on "+host
	default:
		check.Problem, check.Message = protocol.ProbeUnreachable, c.modelError(&connectError{err}).Message
	}
	check.Message = c.redacted(check.Message)
}

// explainStatus describes a status other than 200.
func (c *Client) explainStatus(check *Check, e *askError, key string) {
	p := parseProblem(e.body)
	reason := ""
	if text := excerpt.FirstRunes(excerpt.Line(p.text), 200); text != "" {
		reason = ": " + text
	}
	switch {
	case e.isAuth() && check.KeySent:
		check.KeyAccepted = new(false)
		check.KeyNeeded = new(true)
		check.Problem, check.Message = protocol.ProbeKeyRejected,
			fmt.Sprintf("the provider at %s rejects %s (%d)%s", c.latest().Host, key, e.status, reason)
	case e.isAuth():
		check.KeyNeeded = new(true)
		check.Problem, check.Message = protocol.ProbeKeyMissing,
			fmt.Sprintf("the provider at %s needs a key (%d)%s", c.latest().Host, e.status, reason)
	case e.status == http.StatusNotFound, e.status == http.StatusMethodNotAllowed, e.status/100 == 3:
		check.Listless = e.status/100 != 3
		check.Problem, check.Message = protocol.ProbeNoModelServer,
			fmt.Sprintf("%s has no list of models at %s (%d)", c.latest().Host, e.url, e.status)
	default:
		check.Problem, check.Message = protocol.ProbeFailed,
			fmt.Sprintf("the provider at %s answers %d %s%s", c.latest().Host, e.status, http.StatusText(e.status), reason)
	}
	check.Message = c.redacted(check.Message)
}

// Asked is the answer of a model to a test.
type Asked struct {
	// Text is the beginning of the answer, or "" if the model did not answer.
	Text     string
	Duration time.Duration
	Usage    *protocol.TokenUsageBreakdown
	// Problem is the kind of the failure, or "". Status is the HTTP status of the refusal, or 0.
	Problem, Message string
	Status           int
}

const (
	// askText is the test question.
	askText = "Reply with the single word OK."
	// askLimit bounds the text of the answer that is kept, in runes, and longAnswer the text after which the answer is
	// long enough, in bytes.
	askLimit, longAnswer = 200, 4 << 10
)

// errLongEnough ends an answer that has more text than the test needs.
var errLongEnough = errors.New("the answer is long enough")

// Ask requests a short answer of a model.
func Ask(ctx context.Context, p Provider, provider, name string) Asked {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var text []byte
	begun := time.Now()
	answer, err := p.Stream(ctx, &core.Prompt{
		Provider: provider, Model: name,
		Items: []protocol.ResponseItem{{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
			Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: askText}}}}},
	}, func(piece core.Piece) {
		if piece.Kind == core.PieceText {
			text = append(text, piece.Text[:min(len(piece.Text), longAnswer)]...)
		}
		if len(text) > longAnswer {
			cancel(errLongEnough)
		}
	})
	asked := Asked{Text: excerpt.FirstRunes(excerpt.Line(string(text)), askLimit), Duration: time.Since(begun),
		Usage: answer.Usage}
	if err != nil && !errors.Is(err, errLongEnough) {
		asked.explain(err)
	}
	return asked
}

// explain describes why the model did not answer.
func (a *Asked) explain(err error) {
	a.Text = ""
	failed := new(core.ModelError)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		a.Problem, a.Message = protocol.ProbeTimeout,
			fmt.Sprintf("the model did not finish its answer within %v", a.Duration.Round(time.Second))
	case !errors.As(err, &failed):
		a.Problem, a.Message = protocol.ProbeFailed, err.Error()
	default:
		a.Problem, a.Message = protocol.ProbeFailed, excerpt.FirstRunes(excerpt.Line(failed.Message), messageLimit)
		a.Status = statusOf(failed)
		a.Problem = cmp.Or(map[string]string{protocol.ErrorModelNotFound: protocol.ProbeModelNotFound}[failed.Info.Kind],
			a.Problem)
		if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
			a.Problem = protocol.ProbeKeyRejected
		}
	}
}

// statusOf returns the HTTP status of an error, or 0.
func statusOf(e *core.ModelError) int {
	if e.Info.HTTPStatus == nil {
		return 0
	}
	return *e.Info.HTTPStatus
}
