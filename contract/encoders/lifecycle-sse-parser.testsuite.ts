export interface ParsedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** What an EventSource dispatches for these bytes (WHATWG HTML, "Interpreting an event stream"), read one byte at a time. */
export function parseSse(bytes: Uint8Array): ParsedEvent[] {
  const decoder = new TextDecoder('utf-8');
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += decoder.decode(bytes.subarray(i, i + 1), { stream: true });
  const events: ParsedEvent[] = [];
  let [id, event, data] = ['', '', ''];
  const lines = (text + decoder.decode()).split(/\r\n|\n|\r/);
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      if (data !== '') events.push({ id, event: event === '' ? 'message' : event, data: data.slice(0, -1) });
      [event, data] = ['', ''];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data += `${value}\n`;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
  return events;
}
