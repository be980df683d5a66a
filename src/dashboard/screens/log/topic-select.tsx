import fieldStyles from '../../ui/field.module.css';
import { type AccountTopic, accountTopics } from './account-topics.ts';
import styles from './log.module.css';

interface TopicSelectProps {
  readonly topic: AccountTopic;
  readonly onChange: (topic: AccountTopic) => void;
}

/** Which kinds of entries are shown. It stands beside the search, which has no visible label either. */
export const TopicSelect = ({ topic, onChange }: TopicSelectProps) => (
  <span className={styles.topic}>
    <select
      aria-label="Kinds of entries"
      className={fieldStyles.input}
      value={topic}
      onChange={({ target }) => {
        const chosen = accountTopics.find(({ value }) => value === target.value);
        if (chosen) onChange(chosen.value);
      }}
    >
      {accountTopics.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </span>
);
