export type RetentionEvent = never;
