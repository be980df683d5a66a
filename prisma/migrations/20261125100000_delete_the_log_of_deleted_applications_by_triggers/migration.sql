-- A foreign key is checked for each row that the log gets, which costs PostgreSQL as much as storing it. Who writes the log
-- locks its application and developer instead, so that both exist until the commit. What the keys did when an application
-- or a developer was deleted, triggers of these tables do.
-- additive: the previous version finds the same rows, and deletes the same ones.
LOCK TABLE "security_log" IN ACCESS EXCLUSIVE MODE;
-- Every request uses these two, so they are not waited for. Deletions lock them before the log; the short timeout also lets
-- go of the log before a deletion that waits for it counts as a deadlock. The migration is tried again.
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
