package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// The failures below are those that gemini 0.61.0 is known to react to; what it
// does is measured. The bodies were written for tests: that the provider sends
// exactly these is not established.

// GeminiDailyQuota is the quota of a day, which is used up. gemini ends at once
// with "You have exhausted your daily quota on this model." and exit code 173.
func GeminiDailyQuota() Failure {
	return Failure{Status: http.StatusTooManyRequests, Body: geminiError(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED",
		"You exceeded your current quota, please check your plan and billing details.",
		object{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
			"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
			"quotaValue":  "50",
		}}},
		retryInfo(37000*time.Second),
	)}
}

// GeminiRateLimit is a limit that passes: gemini asks 10 times in about 203 s,
// unless retryAfter, when it is not 0, tells a shorter time, then ends with
// "Resource has been exhausted" and exit code 173.
func GeminiRateLimit(retryAfter time.Duration) Failure {
	var details []object
	if retryAfter > 0 {
		details = append(details, retryInfo(retryAfter))
	}
	return Failure{Status: http.StatusTooManyRequests, Body: geminiError(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED",
		"Resource has been exhausted (e.g. check quota).", details...)}
}

// Gemini401 is a key that does not hold. gemini ends at once with exit code 145.
func Gemini401() Failure {
	return Failure{Status: http.StatusUnauthorized, Body: geminiError(http.StatusUnauthorized, "UNAUTHENTICATED",
		"API key not valid. Please pass a valid API key.")}
}

// Gemini500 is trouble on the provider's side. gemini tries again with growing
// pauses, for more than 100 s.
func Gemini500() Failure {
	return Failure{Status: http.StatusInternalServerError, Body: geminiError(http.StatusInternalServerError, "INTERNAL",
		"An internal error has occurred.")}
}

func retryInfo(d time.Duration) object {
	return object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", int(d.Seconds()))}
}

// geminiError is the body of every error of the API.
func geminiError(status int, name, message string, details ...object) string {
	inner := object{"code": status, "message": message, "status": name}
	if details != nil {
		inner["details"] = details
	}
	b, err := json.Marshal(object{"error": inner})
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return string(b)
}
