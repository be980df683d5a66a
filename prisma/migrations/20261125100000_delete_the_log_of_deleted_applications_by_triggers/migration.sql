-- A foreign key is checked for each row that is added to the log, which costs PostgreSQL as much as storing the row. Writers of
-- the log lock its application and developer instead, so that both exist until the commit. Triggers of these tables delete
-- the log of a deleted application or developer, as the keys did.
-- additive: the previous version finds the same rows, and deletes the same ones.
LOCK TABLE "security_log" IN ACCESS EXCLUSIVE MODE;
-- Every request uses these two, so the migration waits for them only briefly, and is tried again. Deletions lock them before
-- the log: the timeout is shorter than deadlock_timeout, so that no deletion is cancelled as part of a deadlock.
SET LOCAL lock_timeout = '300ms';
LOCK TABLE "developers", "applications" IN ACCESS EXCLUSIVE MODE;

CREATE FUNCTION "forget_log"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "security_log" WHERE "application_id" = OLD."id";
    RETURN NULL;
END $$;

CREATE FUNCTION "forget_log_of_developer"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "security_log" WHERE "developer_id" = OLD."id";
    RETURN NULL;
END $$;

CREATE TRIGGER "applications_forget_log" AFTER DELETE ON "applications"
    FOR EACH ROW EXECUTE FUNCTION "forget_log"();

CREATE TRIGGER "developers_forget_log" AFTER DELETE ON "developers"
    FOR EACH ROW EXECUTE FUNCTION "forget_log_of_developer"();

-- DropForeignKey
ALTER TABLE "security_log" DROP CONSTRAINT "security_log_application_id_fkey";

-- DropForeignKey
ALTER TABLE "security_log" DROP CONSTRAINT "security_log_developer_id_fkey";
