import { secretValues } from '../../supervisor/environment.ts';

/** A shorter value could be any word. */
const SHORTEST = 8;

/**
 * Puts the name of a setting in the place of its value, wherever that was said: an export is made to be handed on.
 *
 * @param settings those of `.env`
 */
export function* maskSecrets(
  lines: Iterable<string>,
  settings: Readonly<Record<string, string | undefined>>,
): Iterable<string> {
  const secrets = Object.entries(settings).flatMap(([name, value]) =>
    secretValues({ [name]: value })
      .filter((secret) => secret.length >= SHORTEST)
      .map((secret) => ({ name, value: secret })),
  );
  // One may be the beginning of another.
  secrets.sort((one, other) => other.value.length - one.value.length);
  for (const line of lines) {
    yield secrets.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), line);
  }
}
