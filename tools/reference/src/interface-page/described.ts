/** A description, led by what stands in for a deprecated part. */
export function described(part: {
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
}): string {
  const deprecation = part.deprecationReason ? `**Deprecated:** ${part.deprecationReason} ` : '';
  return `${deprecation}${part.description ?? ''}`;
}
