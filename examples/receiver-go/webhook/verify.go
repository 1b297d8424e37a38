// Package webhook verifies webhooks with the standard library of Go, 1.19 or later.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// IsAuthentic reports whether Deedwire signed the request with one of the secrets, within 300 seconds of now.
//
// body is the bytes as received, before any parsing. secrets is one secret, or both during a rotation. A malformed
// secret is an error.
func IsAuthentic(header http.Header, body []byte, secrets []string, now time.Time) (ok bool, err error) {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	for _, secret := range secrets {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if len(key) < 24 || len(key) > 64 || "whsec_"+base64.StdEncoding.EncodeToString(key) != secret {
			return false, errors.New("a webhook secret is whsec_ and base64 of 24 to 64 bytes")
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		for _, signature := range strings.Split(header.Get("Webhook-Signature"), " ") {
			ok = hmac.Equal([]byte(signature), []byte("v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))) || ok
		}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 64)
	age := now.Sub(time.Unix(int64(seconds), 0)).Abs()
	// Otherwise text could move between the id, the timestamp and the body.
	return ok && !strings.Contains(id, ".") && len(timestamp) == 10 && err == nil && age <= 300*time.Second, nil
}
