package model_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// TestMissingModels recognises a model that the provider does not have by the words of public providers and servers.
func TestMissingModels(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   bool
	}{
		{404, `{"error":{"message":"The model ` + "`gpt-9`" + ` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, true},
		{404, `{"error":{"message":"model \"qwen9\" not found, try pulling it first","type":"api_error"}}`, true},
		{404, `{"error":"model 'qwen9' not found"}`, true},
		{404, `{"object":"error","message":"The model ` + "`Qwen/Qwen2.5-9B`" + ` does not exist.","type":"NotFoundError","code":404}`, true},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, true},
		{404, `{"error":{"message":"No endpoints found for a/b.","code":404}}`, true},
		{400, `{"error":{"message":"a/b is not a valid model ID","code":400}}`, true},
		{404, `[{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."}}]`, true},
		{400, `{"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","code":"1500"}`, true},
		{400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, true},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, true},
		{404, `{"error":{"message":"Not found the model kimi-9 or Permission denied","type":"resource_not_found_error"}}`, true},
		{400, `{"error":{"code":"1211","message":"Unknown Model, please check the model code."}}`, true},
		{400, `{"error":{"message":"Invalid model name passed in model=x. Call /v1/models to view available models"}}`, true},
		{400, `{"message":"The provided model identifier is invalid."}`, true},
		{404, `{"error":{"message":"Model not found, inaccessible, and/or not deployed"}}`, true},
		{400, `could not find real modelID for x`, true},
		{400, `{"error":{"message":"Cannot find model 'x'"}}`, true},
		{404, `404 page not found`, false},
		{404, `{"detail":"Not Found"}`, false},
		{400, `{"error":{"message":"The model does not support images."}}`, false},
		{404, `{"error":{"message":"Item 'rs_1' not found. Items are not persisted."}}`, false},
		{400, `{"error":{"message":"tool f not found in tools"}}`, false},
		{500, `{"error":{"message":"model runner has unexpectedly stopped"}}`, false},
	} {
		kind := model.StatusFailure("p", tt.status, http.Header{}, []byte(tt.body)).Info.Kind
		require.Equal(t, tt.want, kind == protocol.ErrorModelNotFound, tt.body)
	}
}
