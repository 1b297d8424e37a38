import { inputError, type UserError } from './errors.ts';

/** The user error of a webhook secret that is malformed. */
export function webhookSecretInvalid(secret: string): UserError<'WEBHOOK_SECRET_INVALID'> {
  const message = `A webhook secret is \`whsec_\` and the base64 of 24 to 64 bytes.${describeSecretSize(secret)}`;
  return inputError('WEBHOOK_SECRET_INVALID', 'webhookSecret', message);
}

/** For secrets whose only problem is their size. */
function describeSecretSize(secret: string): string {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]*={0,2})$/.exec(secret) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (base64 === '' || bytes.toString('base64') !== base64) return '';
  return ` This one has ${bytes.length.toLocaleString('en')} bytes.`;
}
