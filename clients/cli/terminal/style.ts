/** How a text stands out on a terminal. */
export type Style = 'plain' | 'dim' | 'bold' | 'red' | 'yellow' | 'cyan';

const CODES: Readonly<Record<Exclude<Style, 'plain'>, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Paint = (style: Style, text: string) => string;

/** Paints where there is colour; elsewhere text stays text. */
export function painter(hasColour: boolean): Paint {
  return (style, text) => {
    if (!hasColour || style === 'plain' || text === '') return text;
    const [on, off] = CODES[style];
    return `\u001b[${String(on)}m${text}\u001b[${String(off)}m`;
  };
}
