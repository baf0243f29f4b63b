import type { ServiceParts } from './parts.ts';

/** Finishes what a power cut left, then becomes the supervisor, so that signals reach it. */
const SCRIPT = '"$1" "$2"; exec "$3" "$4" --service';

/** Returns the property list with which launchd keeps the assistant running while its user is logged in. */
export function launchdPlist(parts: ServiceParts, { label, log }: { label: string; log: string }) {
  const { node, anyNode, prepare, start, path } = parts;
  const program = ['/bin/sh', '-c', SCRIPT, 'sh', anyNode, prepare, node, start];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(label)}
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    ${string(word)}`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${string(path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>StandardOutPath</key>
  ${string(log)}
  <key>StandardErrorPath</key>
  ${string(log)}
</dict>
</plist>
`;
}

function string(text: string): string {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;
  return `<string>${text.replace(/[&<>]/g, (one) => entities[one as keyof typeof entities])}</string>`;
}
