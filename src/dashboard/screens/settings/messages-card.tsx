import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { TextField } from '../../ui/field.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import { Dim } from '../../ui/text.tsx';
import { MessageRow } from './message-row.tsx';
import { defaultTexts, type Message, type MessageKey, messageGroups } from './messages.ts';
import styles from './settings.module.css';
import type { SettingsPartProps } from './settings-form.tsx';

/** The texts that client software shows to customers. */
export function MessagesCard({ values, set, error }: SettingsPartProps) {
  const [q, setQ] = useState('');
  const searched = q.trim().toLowerCase();
  const { messages } = values;
  const fits = ({ key, when, text }: Message) =>
    [key, when, text, messages[key]].some((candidate) => candidate?.toLowerCase().includes(searched));
  const groups = messageGroups
    .map(({ name, messages: known }) => ({ name, found: [...known].filter(fits) }))
    .filter(({ found }) => found.length > 0);
  const change = (key: MessageKey, text: string | null) => {
    const { [key]: _before, ...others } = messages;
    set({ messages: text === null || text === defaultTexts[key] ? others : { ...others, [key]: text } });
  };
  const count = Object.values(messages).filter((text) => text.trim() !== '').length;
  return (
    <Card title="Messages" aside={<span>{count} of your own</span>}>
      <Stack>
        <TextField
          label="Find a message"
          hint="What programs show to customers. An empty field has the default text, which is shown in it."
          type="search"
          value={q}
          onChange={setQ}
          onKeyDown={(event) => {
            // Enter searches; it does not save the form.
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
        {groups.map(({ name, found }) => (
          <section key={name} className={styles.group} aria-label={`Messages: ${name}`}>
            <h3 className={styles.groupName}>{name}</h3>
            {found.map((message) => (
              <MessageRow
                key={message.key}
                message={message}
                text={messages[message.key] ?? ''}
                onChange={(text) => change(message.key, text)}
                error={issueFor(error, 'responseMessages', message.key)}
              />
            ))}
          </section>
        ))}
        {groups.length === 0 && <Dim>No message matches.</Dim>}
      </Stack>
    </Card>
  );
}
