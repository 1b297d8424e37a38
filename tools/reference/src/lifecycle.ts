/** What the registries of interfaces and of events say of a version. */
export interface Lifecycle {
  readonly version: string;
  readonly status: 'preview' | 'current' | 'deprecated' | 'retired';
  /** `YYYY-MM-DD`. Null unless deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`. Null when no end is planned. */
  readonly sunsetOn: string | null;
}

/** Where a version stands, in a few words. */
export function statusInWords({ status, deprecatedOn, sunsetOn }: Lifecycle): string {
  switch (status) {
    case 'preview':
      return 'preview';
    case 'current':
      return 'released';
    case 'deprecated':
      return `deprecated on ${deprecatedOn}, ends on ${sunsetOn ?? 'a day not fixed yet'}`;
    case 'retired':
      return `retired on ${sunsetOn}`;
  }
}

/** What that means for a reader, in a sentence or two. */
export function statusExplained({ status, deprecatedOn, sunsetOn }: Lifecycle): string {
  switch (status) {
    case 'preview':
      return '**Preview.** Not released: it may still change in a breaking way. Only those who name it get it.';
    case 'current':
      return '**Released.** From now on it only grows. No end is planned.';
    case 'deprecated':
      return `**Deprecated** on ${deprecatedOn}. It goes on as it is until it ends on ${sunsetOn ?? 'a day that is not fixed yet'}: move to a newer version before.`;
    case 'retired':
      return `**Retired** on ${sunsetOn}. It cannot be used any more.`;
  }
}
