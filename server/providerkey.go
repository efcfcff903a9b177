package server

import (
	"context"

	"appserver/protocol"
)

// ProviderKeys stores the keys of providers. Errors have no key. The functions are called after the response was sent.
type ProviderKeys interface {
	WriteKey(ctx context.Context, p *protocol.ModelProviderKeyWriteParams) (
		protocol.ModelProviderKeyWriteResponse, func(), error)
	DeleteKey(ctx context.Context, p *protocol.ModelProviderKeyDeleteParams) (
		protocol.ModelProviderKeyDeleteResponse, func(), error)
}

// ModelProviderConfigWrite changes a provider in the user's configuration. A notification follows the response.
func (h ServerHandlers) ModelProviderConfigWrite(to protocol.Caller, p *protocol.ModelProviderConfigWriteParams) error {
	return h.ReplyThen(to, func() (any, func(), error) { return h.Catalog.WriteProvider(p) })
}

// ModelProviderDefaultSet sets the provider of new threads. A notification follows the response.
func (h ServerHandlers) ModelProviderDefaultSet(to protocol.Caller, p *protocol.ModelProviderDefaultSetParams) error {
	answer, then, err := h.Catalog.SetDefaultProvider(p.ProviderID)
	return h.replyThen(to, answer, then, err)
}

// ModelProviderKeyWrite stores the key of a provider. A notification follows the response.
func (h ServerHandlers) ModelProviderKeyWrite(to protocol.Caller, p *protocol.ModelProviderKeyWriteParams) error {
	return h.ReplyThen(to, func() (any, func(), error) { return h.Keys.WriteKey(context.Background(), p) })
}

// ModelProviderKeyDelete removes the stored key of a provider. A notification follows the response.
func (h ServerHandlers) ModelProviderKeyDelete(to protocol.Caller, p *protocol.ModelProviderKeyDeleteParams) error {
	return h.ReplyThen(to, func() (any, func(), error) { return h.Keys.DeleteKey(context.Background(), p) })
}
