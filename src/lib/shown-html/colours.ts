/** A colour as red, green and blue; `clear` lets through what is below; null is not known. */
type Colour = readonly [number, number, number] | 'clear' | null;

/** The colours in which the text of an element is shown. */
export type Colours = { readonly text: Colour; readonly ground: Colour };

/** Returns the colours that an element has, by its parent's, its attributes and its own style. */
export type ReadColours = (
  parent: Colours,
  attributes: ReadonlyMap<string, string>,
  style: ReadonlyMap<string, string>,
) => Colours;

/** A mail without colours. */
export const PAPER: Colours = { text: [0, 0, 0], ground: [255, 255, 255] };

/** So little between two colours is not seen. */
const UNSEEN = 8;

/**
 * Makes a reader for the colours of elements. Colours in style sheets are not read: if a sheet sets some, a text is
 * judged only if its element itself also has the other colour.
 */
export function coloursOf(sheets: string): ReadColours {
  const setsText = /(?:^|[^-\w])color\s*:/i.test(sheets);
  const setsGround = /background/i.test(sheets);
  return (parent, attributes, style) => {
    const text = textIn(attributes, style);
    const ground = groundIn(parent, attributes, style);
    return {
      text: text === undefined ? (setsText ? null : parent.text) : text,
      ground: ground === undefined ? (setsGround ? null : parent.ground) : ground,
    };
  };
}

/** Tells whether text of these colours is seen, as far as they are known. */
export function isSeen({ text, ground }: Colours): boolean {
  if (text === 'clear') return false;
  if (text === null || ground === null || ground === 'clear') return true;
  return text.some((part, at) => Math.abs(part - (ground[at] ?? 0)) > UNSEEN);
}

const INHERITED = /^(inherit|unset|currentcolor|revert)/;

/** @returns undefined where the element says nothing of it */
function textIn(
  attributes: ReadonlyMap<string, string>,
  style: ReadonlyMap<string, string>,
): Colour | undefined {
  const stated = style.get('color') ?? attributes.get('color') ?? attributes.get('text');
  if (stated === undefined || INHERITED.test(stated)) return undefined;
  // The ground is what such letters are drawn with.
  const isDrawn = [...style.keys()].some((name) => /background-clip|text-fill|stroke/.test(name));
  return isDrawn ? null : colourIn(stated);
}

/** @returns undefined where the element says nothing of it */
function groundIn(
  parent: Colours,
  attributes: ReadonlyMap<string, string>,
  style: ReadonlyMap<string, string>,
): Colour | undefined {
  const painted = [style.get('background'), style.get('background-image')].join(' ');
  if (/url|gradient|image/.test(painted) || attributes.has('background')) return null;
  const stated =
    style.get('background-color') ?? style.get('background') ?? attributes.get('bgcolor');
  if (stated === undefined || INHERITED.test(stated) || /^(none|initial)/.test(stated)) {
    return undefined;
  }
  const colour = colourIn(stated);
  return colour === 'clear' ? parent.ground : colour;
}

function colourIn(stated: string): Colour {
  const word = stated.trim().toLowerCase();
  if (/^transparent/.test(word)) return 'clear';
  if (/^white/.test(word)) return [255, 255, 255];
  if (/^black/.test(word)) return [0, 0, 0];
  const [, hex = ''] = /^#([\da-f]{3,8})(?=$|\s)/.exec(word) ?? [];
  if (hex.length === 3 || hex.length === 4) return fromHex([...hex].map((sign) => sign + sign));
  if (hex.length === 6 || hex.length === 8) return fromHex(hex.match(/../g) ?? []);
  const numbers = /^rgba?\(([\d\s.,/]{1,60})\)/
    .exec(word)?.[1]
    ?.match(/[\d.]+/g)
    ?.map(Number);
  const [red, green, blue, alpha = 1] = numbers ?? [];
  if (red === undefined || green === undefined || blue === undefined) return null;
  return shade([red, green, blue], alpha);
}

function fromHex(pairs: readonly string[]): Colour {
  const [red = 0, green = 0, blue = 0, alpha = 255] = pairs.map((pair) =>
    Number.parseInt(pair, 16),
  );
  return shade([red, green, blue], alpha / 255);
}

/** Returns the shade of a colour. A half-transparent one is unknown, because it depends on what is behind it. */
function shade(colour: readonly [number, number, number], alpha: number): Colour {
  if (alpha <= 0.02) return 'clear';
  return alpha < 1 ? null : colour;
}
