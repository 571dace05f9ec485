BEGIN TRANSACTION;
CREATE TABLE abilities (
    backend TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, name TEXT NOT NULL,
    present INTEGER NOT NULL, PRIMARY KEY (backend, model, revision, name)
) WITHOUT ROWID;
INSERT INTO "abilities" VALUES('openai','judge','','json_schema',1);
INSERT INTO "abilities" VALUES('openai','plain','2','json_schema',0);
CREATE TABLE answers (
    key TEXT NOT NULL, sample INTEGER NOT NULL, judge TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, refused INTEGER NOT NULL, served_model TEXT NOT NULL,
    characters INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL,
    tokens TEXT, answered REAL NOT NULL, PRIMARY KEY (key, sample)
) WITHOUT ROWID;
INSERT INTO "answers" VALUES('262e19b4c6acead939a5a8958079d4bd8092d85f5e3ed11f95ec24cd00fd25dd',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 3, "consistency": 1, "fluency": 1, "relevance": 5}','stop',0,'plain-as-served',913,182,30,NULL,1.0);
INSERT INTO "answers" VALUES('2f0a3467ce47557d8f3575295a952dcd080fcdf66c0c0bc7ae9bdb380a1fa853',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 2, "consistency": 4, "fluency": 1, "relevance": 5}','stop',0,'plain-as-served',899,179,30,NULL,1.0);
INSERT INTO "answers" VALUES('59935bdfe273d5744df21f1a9a995b3428283678660d229c92a6851cdbcbeb4d',0,'f7f44722ea92aa1636f4af45837344556d1137cd585ff793e9e139f342045ba2','Answer 27a66b28.','stop',0,'m-as-served',48,7,60,NULL,1.0);
INSERT INTO "answers" VALUES('59935bdfe273d5744df21f1a9a995b3428283678660d229c92a6851cdbcbeb4d',1,'f7f44722ea92aa1636f4af45837344556d1137cd585ff793e9e139f342045ba2','Answer 4ce7de82.','stop',0,'m-as-served',0,0,0,NULL,1.0);
INSERT INTO "answers" VALUES('650705261367a94ba205839de7bd0f6230bd2fee29f7221664018614ef8cb968',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 3, "consistency": 5, "fluency": 1, "relevance": 2}','stop',0,'plain-as-served',667,133,30,NULL,1.0);
INSERT INTO "answers" VALUES('6a117f5c834373beacb251c38489e31bf78428aa5ebf8e46d791a4cf534a137d',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 2, "consistency": 5, "fluency": 3, "relevance": 5}','stop',0,'plain-as-served',682,136,30,NULL,1.0);
INSERT INTO "answers" VALUES('702d2f69808490cb867a1dc4238b48a81383e483a9361e43c884cb5e72f73b97',0,'ec27e4626bb3d840162df5e95c3425d9cfa26297fed507d4b3ce96b49fc9dd89','{"coherence": 2, "consistency": 5, "fluency": 2, "relevance": 2}','stop',0,'judge-as-served',1748,349,30,NULL,1.0);
INSERT INTO "answers" VALUES('702d2f69808490cb867a1dc4238b48a81383e483a9361e43c884cb5e72f73b97',1,'ec27e4626bb3d840162df5e95c3425d9cfa26297fed507d4b3ce96b49fc9dd89','{"coherence": 4, "consistency": 4, "fluency": 2, "relevance": 5}','stop',0,'judge-as-served',1748,349,30,NULL,1.0);
INSERT INTO "answers" VALUES('788d1a2f379c3ae52c37401a69a1a58f0fa265f8b7e64d5672f2650c3e19b4d5',0,'ec27e4626bb3d840162df5e95c3425d9cfa26297fed507d4b3ce96b49fc9dd89','{"coherence": 4, "consistency": 2, "fluency": 1, "relevance": 3}','stop',0,'judge-as-served',1759,351,30,NULL,1.0);
INSERT INTO "answers" VALUES('788d1a2f379c3ae52c37401a69a1a58f0fa265f8b7e64d5672f2650c3e19b4d5',1,'ec27e4626bb3d840162df5e95c3425d9cfa26297fed507d4b3ce96b49fc9dd89','{"coherence": 1, "consistency": 5, "fluency": 3, "relevance": 4}','stop',0,'judge-as-served',1759,351,30,NULL,1.0);
INSERT INTO "answers" VALUES('9722a3ae36a49fd9349ecae57c6a478578df341c058b6d056daf430ffc4e0870',0,'f7f44722ea92aa1636f4af45837344556d1137cd585ff793e9e139f342045ba2','Answer ed668a34.','stop',0,'m-as-served',52,8,60,NULL,1.0);
INSERT INTO "answers" VALUES('9722a3ae36a49fd9349ecae57c6a478578df341c058b6d056daf430ffc4e0870',1,'f7f44722ea92aa1636f4af45837344556d1137cd585ff793e9e139f342045ba2','Answer 9304cabc.','stop',0,'m-as-served',0,0,0,NULL,1.0);
INSERT INTO "answers" VALUES('9b3833fa4f2420db3ed41ec11c8347a7076770219cb10f08f5e03249155fa5f0',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 5, "consistency": 4, "fluency": 2, "relevance": 2}','stop',0,'plain-as-served',924,184,30,NULL,1.0);
INSERT INTO "answers" VALUES('b3f0cb7d4a4603e3627cb297c9e0b54a58639e19af90d5a3d26b0a9ef125b7e5',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 1, "consistency": 2, "fluency": 2, "relevance": 2}','stop',0,'plain-as-served',822,164,30,NULL,1.0);
INSERT INTO "answers" VALUES('beeca3991228f9e1b58da248ebebd5a8d1d6a8c37c4c050050bbf6e330022c48',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 3, "consistency": 5, "fluency": 1, "relevance": 5}','stop',0,'plain-as-served',888,177,30,NULL,1.0);
INSERT INTO "answers" VALUES('d1307d2e096afd1c1b7c5f6470f87778791881115dabeb242da6ac2058da0e66',0,'e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','{"coherence": 2, "consistency": 2, "fluency": 3, "relevance": 3}','stop',0,'plain-as-served',811,162,30,NULL,1.0);
CREATE TABLE judges (
    digest TEXT PRIMARY KEY, backend TEXT NOT NULL, model TEXT NOT NULL, revision TEXT,
    parameters TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "judges" VALUES('e8923e263ac24957aacc2d22c41306388beee6d0df9c5c4da0ce4e7f8e1ad2c3','openai','plain','2','{"max_tokens":256,"reasoning_effort":"low","temperature":0.0}');
INSERT INTO "judges" VALUES('ec27e4626bb3d840162df5e95c3425d9cfa26297fed507d4b3ce96b49fc9dd89','openai','judge',NULL,'{"max_tokens":256,"response_format":{"json_schema":{"name":"marks","schema":{"additionalProperties":false,"properties":{"coherence":{"enum":[1,2,3,4,5],"type":"integer"},"consistency":{"enum":[1,2,3,4,5],"type":"integer"},"fluency":{"enum":[1,2,3],"type":"integer"},"relevance":{"enum":[1,2,3,4,5],"type":"integer"}},"required":["coherence","consistency","fluency","relevance"],"type":"object"},"strict":true},"type":"json_schema"},"seed":7,"temperature":1.0,"top_p":1.0}');
INSERT INTO "judges" VALUES('f7f44722ea92aa1636f4af45837344556d1137cd585ff793e9e139f342045ba2','openai','m',NULL,'{"max_tokens":256,"seed":0,"temperature":1.0,"top_p":1.0}');
COMMIT;
