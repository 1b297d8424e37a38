/** The version of each contract that this consumer uses. */
export const pins = { lender: '2026-11-01', partner: '2026-11-01', referralConverted: '2026-11-01' } as const;
