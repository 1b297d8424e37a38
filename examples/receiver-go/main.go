// A webhook receiver in Go, 1.19 or later. WEBHOOK_SECRET is the secret of the subscription, DATABASE_URL a PostgreSQL database.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	_ "github.com/lib/pq"

	"example.com/receiver/webhook"
)

type event struct {
	VerificationToken string          `json:"verification_token,omitempty"`
	Type              string          `json:"type,omitempty"`
	Version           string          `json:"version,omitempty"`
	Data              json.RawMessage `json:"data,omitempty"`
}

var errDuplicate = errors.New("processed before")

func main() {
	secret, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set.")
	}
	if port == "" {
		port = "4005"
	}
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err == nil {
		_, err = db.Exec(`create table if not exists webhook_receipt (
			id text primary key, received_at timestamptz not null default now())`)
	}
	if err != nil {
		log.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 300_000)) // raw bytes: verify, then parse
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		if ok, err := webhook.IsAuthentic(r.Header, body, []string{secret}, time.Now()); err != nil {
			log.Fatal(err)
		} else if !ok {
			log.Print("Rejected a request: its signature does not verify.")
			http.Error(w, "The signature does not verify.", http.StatusUnauthorized)
			return
		}
		var received event
		if err := json.Unmarshal(body, &received); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if received.VerificationToken != "" && received.Type == "" {
			log.Print("Answered the handshake.")
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(received)
			return
		}
		switch err := processOnce(r.Context(), db, r.Header.Get("Webhook-Id"), received); {
		case errors.Is(err, errDuplicate):
			w.WriteHeader(http.StatusOK)
		case err != nil:
			log.Print(err)
			http.Error(w, "The event is not processed.", http.StatusInternalServerError) // Deedwire retries it
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: handler, ReadTimeout: 10 * time.Second}
	log.Printf("Listening on http://%s/", server.Addr)
	log.Fatal(server.ListenAndServe())
}

// processOnce makes the changes of an event in the transaction that remembers its delivery.
func processOnce(ctx context.Context, db *sql.DB, id string, received event) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// A repeat at the same time waits here until the first one has ended.
	result, err := tx.ExecContext(ctx, "insert into webhook_receipt (id) values ($1) on conflict do nothing", id)
	if err != nil {
		return err
	}
	if inserted, err := result.RowsAffected(); err != nil {
		return err
	} else if inserted == 0 {
		return errDuplicate
	}
	// Make your own changes here, in tx.
	log.Printf("Processed %s: %s", received.Type, received.Data)
	return tx.Commit()
}
