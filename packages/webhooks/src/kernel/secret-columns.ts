/**
 * The secrets with which a subscription signs at a time, from `webhook_subscription s`. A rotation that has ended counts as
 * moved, whether housekeeping has moved it or not.
 */
export function secretColumns(time: 'now()' | 'clock_timestamp()'): string {
  return `
  case when s.rotation_ends_at <= ${time} then s.next_secret_ciphertext else s.secret_ciphertext end as "secretCiphertext",
  case when s.rotation_ends_at > ${time} then s.next_secret_ciphertext end as "nextSecretCiphertext"`;
}
