package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"appserver/protocol"
)

const (
	// deviceTime is the time that a user has to enter a code.
	deviceTime = 15 * time.Minute
	// minInterval and maxInterval bound the time between two questions whether the user has entered the code.
	minInterval = time.Second
	maxInterval = time.Minute
	// maxFailures is the number of questions in a row without a usable answer that end a login.
	maxFailures = 5
)

var errNoDevice = errors.New("the issuer has no login with device codes: sign in with the browser")

// deviceCode is a code for another device.
type deviceCode struct {
	id       string
	interval time.Duration
}

// BeginDevice starts a login with a code that the user enters on any device, in place of another login that waits.
func (a *Account) BeginDevice(ctx context.Context, id string) (*Attempt, error) {
	at, err := a.newAttempt(id, deviceTime)
	if err != nil {
		return nil, err
	}
	code, err := at.requestCode(ctx)
	if err != nil {
		at.cancel(err)
		return nil, err
	}
	a.admit(at)
	at.run = func() error { return at.poll(code) }
	return at, nil
}

// requestCode requests a code for the user.
func (at *Attempt) requestCode(ctx context.Context) (d deviceCode, err error) {
	w, err := at.account.send(ctx, request{method: http.MethodPost,
		address:  at.issuer.URL + "/api/accounts/deviceauth/usercode",
		document: map[string]string{"client_id": at.issuer.ClientID}})
	switch {
	case err != nil:
		return d, err
	case w.status == http.StatusNotFound:
		return d, errNoDevice
	case w.status != http.StatusOK:
		return d, w.refusal("the device code")
	}
	var code struct {
		ID       string          `json:"device_auth_id"`
		Code     string          `json:"user_code"`
		Older    string          `json:"usercode"`
		Interval json.RawMessage `json:"interval"`
	}
	if protocol.Unmarshal(w.body, &code) != nil || code.ID == "" || cmp.Or(code.Code, code.Older) == "" {
		return d, errors.New("the response of the issuer has no device code")
	}
	at.URL, at.UserCode = at.issuer.URL+"/codex/device", shown(cmp.Or(code.Code, code.Older))
	seconds, _ := strconv.Atoi(strings.Trim(string(code.Interval), `" `)) // another form is the shortest interval
	return deviceCode{code.ID, min(max(time.Duration(seconds)*time.Second, minInterval), maxInterval)}, nil
}

// poll waits until the user has entered the code, and stores the login.
func (at *Attempt) poll(d deviceCode) error {
	for failures := 0; ; {
		w, err := at.account.send(at.ctx, request{method: http.MethodPost,
			address:  at.issuer.URL + "/api/accounts/deviceauth/token",
			document: map[string]string{"device_auth_id": d.id, "user_code": at.UserCode}})
		switch {
		case at.ctx.Err() != nil:
			return context.Cause(at.ctx)
		case err == nil && w.status == http.StatusOK:
			return at.entered(w)
		case err == nil && (w.status == http.StatusForbidden || w.status == http.StatusNotFound):
			failures = 0
		default:
			if err == nil {
				err = w.refusal("the login with the device code")
			}
			if failures++; failures == maxFailures || !mayPass(w, err) {
				return err
			}
		}
		select {
		case <-at.ctx.Done():
			return context.Cause(at.ctx)
		case <-time.After(d.interval):
		}
	}
}

// mayPass reports whether a later question may succeed: the network or the issuer has a problem.
func mayPass(w *answer, err error) bool {
	if w == nil {
		return !errors.As(err, new(*HostError))
	}
	return w.status == http.StatusTooManyRequests || w.status >= http.StatusInternalServerError
}

// entered exchanges the code of the issuer.
func (at *Attempt) entered(w *answer) error {
	var code struct {
		Code     string `json:"authorization_code"`
		Verifier string `json:"code_verifier"`
	}
	if protocol.Unmarshal(w.body, &code) != nil || code.Code == "" || code.Verifier == "" {
		return errors.New("the response of the issuer has no code")
	}
	if err := at.complete(code.Code, code.Verifier, at.issuer.URL+"/deviceauth/callback"); err != nil {
		return fmt.Errorf("the login with the device code failed: %w", err)
	}
	return nil
}
