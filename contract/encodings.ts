/** The encodings in which a run is read (design §7). */
export const ENCODINGS = ['canonical', 'lifecycle', 'custom', 'ag-ui', 'ag-ui-legacy'] as const;
export type Encoding = (typeof ENCODINGS)[number];
