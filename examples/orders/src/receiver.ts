// What a customer runs: a server at the callback URL of its subscription.
import { verifyWebhook, WebhookVerificationError } from '@deedwire/webhook-signing';
import express from 'express';

const { RECEIVER_PORT = '4005', WEBHOOK_SECRET: secret = '' } = process.env;

express()
  .post('/webhooks', express.raw({ type: 'application/json' }), ({ headers, body }, response) => {
    try {
      verifyWebhook({ headers, body, secret });
    } catch (error) {
      if (!WebhookVerificationError.isInstance(error)) throw error;
      response.status(401).send(error.code);
      return;
    }
    const event = JSON.parse(body);
    console.log(event.type ?? 'handshake', JSON.stringify(event.data ?? {}));
    // The handshake of a new subscription expects its body. Nothing reads the response to an event.
    response.json(event);
  })
  .listen(Number(RECEIVER_PORT), () => console.log(`The receiver listens on port ${RECEIVER_PORT}.`));
