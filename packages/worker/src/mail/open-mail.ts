import type { ActionContext } from '@deedwire/actions';
import type { Logger } from '@deedwire/service-runtime';
import type { WorkerConfig } from '../config.ts';
import type { MailOptions } from './send-due-mails.ts';

export interface OpenMailOptions {
  config: Pick<WorkerConfig, 'NODE_ENV' | 'PORTAL_ORIGIN' | 'SMTP_FROM' | 'SMTP_URL' | 'WEBHOOK_RETENTION_DAYS'>;
  context: Omit<ActionContext, 'random'>;
  logger: Logger;
  count: MailOptions['count'];
}

const waitMs = 15_000;

/** Sends the mails that are due. The signal ends it early. */
export type SendMails = (signal: AbortSignal) => Promise<void>;

/** Null if no mail is sent: a setting is missing, which it logs. */
export function openMail({ config, ...options }: OpenMailOptions): SendMails | null {
  const { NODE_ENV, PORTAL_ORIGIN: portalOrigin, SMTP_FROM: from, SMTP_URL: server, WEBHOOK_RETENTION_DAYS } = config;
  if (portalOrigin === undefined || from === undefined || server === undefined) {
    const settings = { PORTAL_ORIGIN: portalOrigin, SMTP_FROM: from, SMTP_URL: server };
    const missing = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? name : []));
    const isHalf = from !== undefined || server !== undefined;
    options.logger[isHalf ? 'warn' : 'info']({ missing }, 'no mail is sent to contact addresses: settings are missing');
    return null;
  }
  const requiresTls = NODE_ENV !== 'development' && NODE_ENV !== 'test';
  const settings = { from, server, portalOrigin, requiresTls, waitMs, retentionDays: WEBHOOK_RETENTION_DAYS };
  return async (signal) => {
    // Without mail, its modules are not loaded.
    const { sendDueMails } = await import('./send-due-mails.ts');
    await sendDueMails({ ...options, ...settings }, signal);
  };
}
