import { expect, test } from 'vitest';
import { openMail, type OpenMailOptions } from './open-mail.ts';

const settings = {
  PORTAL_ORIGIN: 'https://portal.example',
  SMTP_FROM: { name: '', address: 'webhooks@service.example' },
  SMTP_URL: { host: 'mail.example', port: 465, isTls: true, credentials: null },
};

/** What is logged with these settings, and whether mail is sent. */
function open(given: Partial<typeof settings>) {
  const lines: unknown[] = [];
  const log = (level: string) => (fields: object, message: string) => void lines.push({ level, ...fields, message });
  const options = {
    config: { NODE_ENV: 'production', WEBHOOK_RETENTION_DAYS: 30, ...given },
    logger: { info: log('info'), warn: log('warn') },
  } as unknown as OpenMailOptions;
  return { isSent: openMail(options) !== null, lines };
}

const message = 'no mail is sent to contact addresses: settings are missing';

test('a worker with all settings sends mail, and logs nothing', () => {
  expect(open(settings)).toEqual({ isSent: true, lines: [] });
});

test('a worker without the settings says once what is missing', () => {
  expect(open({})).toEqual({
    isSent: false,
    lines: [{ level: 'info', missing: ['PORTAL_ORIGIN', 'SMTP_FROM', 'SMTP_URL'], message }],
  });
});

test.each(['PORTAL_ORIGIN', 'SMTP_FROM', 'SMTP_URL'] as const)('a worker that lacks %s only warns', (name) => {
  const { [name]: _, ...others } = settings;
  expect(open(others)).toEqual({ isSent: false, lines: [{ level: 'warn', missing: [name], message }] });
});
