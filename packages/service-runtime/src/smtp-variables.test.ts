import { describe, expect, test } from 'vitest';
import { mailSenderVariable, smtpUrlVariable } from './smtp-variables.ts';

const problemOf = (variable: ReturnType<typeof mailSenderVariable | typeof smtpUrlVariable>, text: string) =>
  variable.safeParse(text).error?.issues[0]?.message;

describe('SMTP_URL', () => {
  const server = { host: 'mail.example', port: 587, isTls: false, credentials: null };

  test.each([
    ['smtp://mail.example', server],
    ['smtp://mail.example/', server],
    ['smtp://mail.example:25', { ...server, port: 25 }],
    ['smtps://mail.example', { ...server, port: 465, isTls: true }],
    ['smtp://[::1]:25', { ...server, host: '::1', port: 25 }],
    [
      'smtps://a%40b:p%25%3A@mail.example',
      { ...server, port: 465, isTls: true, credentials: { user: 'a@b', password: 'p%:' } },
    ],
  ])('%s is read', (text, expected) => {
    expect(smtpUrlVariable().parse(text)).toEqual(expected);
  });

  test.each([
    ['http://mail.example', 'must be a URL that begins with smtp:// or smtps://'],
    ['mail.example:587', 'must be a URL that begins with smtp:// or smtps://'],
    // It would turn off what protects the password.
    ['smtp://mail.example?ignoreTLS=true', 'must contain a host'],
    ['smtp://mail.example/x', 'must contain a host'],
    ['smtp://user@mail.example', 'must contain a user name and a password, or neither'],
    ['smtp://user:%ff@mail.example', 'must have percent-encoded credentials'],
  ])('%s is refused, without its text', (text, problem) => {
    expect(problemOf(smtpUrlVariable(), text)).toContain(problem);
  });
});

describe('SMTP_FROM', () => {
  const address = 'webhooks@service.example';

  test.each([
    [address, { name: '', address }],
    [`Deedwire <${address}>`, { name: 'Deedwire', address }],
    [`"Deedwire, Ltd." <${address}>`, { name: 'Deedwire, Ltd.', address }],
    ['webhooks@localhost', { name: '', address: 'webhooks@localhost' }],
  ])('%s is read', (text, expected) => {
    expect(mailSenderVariable().parse(text)).toEqual(expected);
  });

  test.each([
    'service.example',
    `Deedwire ${address}`,
    `<${address}`,
    `a\r\nBcc: ${address}`,
    `a\n <${address}>`,
    '"a" <b>',
  ])('%j is refused', (text) => {
    expect(problemOf(mailSenderVariable(), text)).toContain('must be an address');
  });
});
