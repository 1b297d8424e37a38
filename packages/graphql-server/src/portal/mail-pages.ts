import { hash } from 'node:crypto';
import {
  type ActionContext,
  confirmContactEmail,
  type ContactSubject,
  unsubscribeContactEmail,
} from '@deedwire/actions';
import { type Interface, type MailAction, mailActions, mailPath } from '@deedwire/core';
import { requestPath } from '@deedwire/service-runtime';
import { wrongMethod } from '../errors/wrong-method.ts';
import { LightResponse } from '../plugins/light-fetch.ts';
import type { RequestState } from '../request-state.ts';
import { end } from '../respond.ts';
import { isRead } from '../transport/is-read.ts';
import { plainPage } from './assets.ts';

/**
 * Serves the links in mails to contact addresses. A scanner of mails follows links, so GET shows a page with a button, and only POST changes
 * something. The token in the URL is the only credential: no cookie is read, and a program for mail sends the POST of RFC 8058 without one.
 *
 * @param actions with connections that no client uses: anyone can send tokens
 */
export function createMailPages(ofInterface: Interface, actions: ActionContext) {
  const paths = new Map(mailActions.map((action) => [mailPath(ofInterface, action), action]));

  async function act(action: MailAction, token: string | null): Promise<MailPage | null> {
    if (action === 'confirm') return (await confirmContactEmail(actions, token)) ? confirmed : null;
    const subject = await unsubscribeContactEmail(actions, token);
    return subject && unsubscribed(subject);
  }

  return {
    /** The action of a link. Undefined for another request. */
    actionOf: ({ message }: Pick<RequestState, 'message'>): MailAction | undefined => paths.get(requestPath(message)),

    /** Ends a request with such a link. */
    async respond(state: RequestState, action: MailAction): Promise<void> {
      const { method, url = '' } = state.message;
      if (isRead(method)) return show(state, questions[action]);
      if (method !== 'POST') throw wrongMethod('GET, HEAD, POST');
      const token = URL.parse(url, 'http://localhost')?.searchParams.get('token') ?? null;
      show(state, (await act(action, token)) ?? invalid);
    },

    /** The pages have no script and no file. Their form is sent to themselves. */
    securityHeaders: {
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    },
  };
}

/** A button that a finger hits. */
const style =
  'body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36em; margin: 1rem } h1 { font-size: 1.4rem } button { font: inherit; padding: 0.5em 1em }';

interface MailPage {
  status?: number;
  title: string;
  text: string;
  /** Of the button that sends the POST. */
  button?: string;
}

const questions: Readonly<Record<MailAction, MailPage>> = {
  confirm: {
    title: 'Confirm this address',
    text: 'Deedwire will send notices about failing webhooks and expiring API keys to the address that got this link.',
    button: 'Confirm',
  },
  unsubscribe: {
    title: 'Get no more of these mails',
    text: 'The address that got this link will get no more mails like the one with the link. It still gets others.',
    button: 'Unsubscribe',
  },
};

const confirmed: MailPage = {
  title: 'The address is confirmed',
  text: 'Deedwire sends notices to it. Each has a link with which to end such mails.',
};

const invalid: MailPage = {
  status: 404,
  title: 'The link does not work',
  text: 'It has expired, or the address was removed. An account can ask for a new one in the portal.',
};

const subjects: Readonly<Record<ContactSubject, string>> = {
  DISRUPTED: 'webhooks that fail',
  PAUSED: 'subscriptions that are paused',
  RECOVERED: 'webhooks that work again',
  FAILED: 'webhooks that failed for good',
  KEY_EXPIRING: 'API keys that end',
};

function unsubscribed(subject: ContactSubject): MailPage {
  return {
    title: 'Unsubscribed',
    text: `The address gets no more mails about ${subjects[subject]}. To undo that, an account removes the address and adds it again.`,
  };
}

function show(state: RequestState, { status = 200, title, text, button }: MailPage): void {
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  const page = plainPage(title, text, { button, style });
  end(state, new LightResponse(page, { status, headers }), { code: status === 404 ? 'NOT_FOUND' : null });
}
