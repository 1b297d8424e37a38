const visible = String.raw`[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]`;

/**
 * A pattern for a variation selector or a joiner after a visible character, as in emoji and in words of Persian and of Indic languages.
 * Another visible character follows the joiner.
 */
export const joiners: string = String.raw`(?:(?<=${visible})\uFE0F|(?<=${visible}\uFE0F?)[\u200C\u200D](?=${visible}))`;
