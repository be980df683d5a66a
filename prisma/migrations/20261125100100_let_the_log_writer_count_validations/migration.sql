-- Counts that were added to validation_counts, by the id of what added them: a write that ended without an answer is tried
-- again, and adds its counts once. Rows of more than a day ago are purged.
CREATE TABLE "added_counts" (
    "id" UUID NOT NULL,

    CONSTRAINT "added_counts_pkey" PRIMARY KEY ("id")
);

-- The writer of client software's entries counts them itself, and notes them for searches, in the same transaction. It says
-- so in a setting of the transaction. For all other writers, such as the version before, the triggers do.
CREATE OR REPLACE TRIGGER "security_log_counts_validations" AFTER INSERT ON "security_log"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT
    WHEN (current_setting('latchkey.log_is_counted', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION "count_validations"();

CREATE OR REPLACE TRIGGER "security_log_notes_backlog" AFTER INSERT ON "security_log"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT
    WHEN (current_setting('latchkey.log_is_counted', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION "note_log_backlog"();
